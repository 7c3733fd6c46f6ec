// A browser starts no worker of a page that was opened from a file. There, a hidden frame does its work.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.waiting = [];
      document.body.append(this.frame);
      const inner = this.frame.contentWindow, outer = this;
      inner.postMessage = data => setTimeout(() => {
        const event = new MessageEvent("message", { data });
        outer.dispatchEvent(event);
        outer.onmessage?.(event);
      });
      inner.importScripts = (...urls) => urls.forEach(each => this.load(each));
      this.load(url, () => {
        this.ready = true;
        this.waiting.splice(0).forEach(data => this.postMessage(data));
      });
    }
    load(url, done) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = new URL(url, location).href;
      script.onload = done;
      this.frame.contentDocument.body.append(script);
    }
    postMessage(data) {
      if (!this.ready) return void this.waiting.push(data);
      const event = new MessageEvent("message", { data });
      this.frame.contentWindow.dispatchEvent(event);
    }
    terminate() { this.frame.remove(); }
  };

// The theme gives each block of code a navigation without a name; a page may have several.
let blocks = 0;
new MutationObserver(() => {
  for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])")) nav.setAttribute("aria-label", `Code ${++blocks}`);
}).observe(document.documentElement, { childList: true, subtree: true });
