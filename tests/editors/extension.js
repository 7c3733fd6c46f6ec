// Starts the VS Code extension with stand-ins for what the editor gives, and says what it asked for.
const Module = require("node:module");
const { readFileSync, existsSync } = require("node:fs");
const { join } = require("node:path");

const folder = process.argv[2];
const said = { watched: [], started: [], stopped: 0 };
const stand_ins = {
  vscode: {
    workspace: {
      getConfiguration: (section) => ({ get: (key) => manifest.contributes.configuration.properties[`${section}.${key}`].default }),
      createFileSystemWatcher: (pattern) => said.watched.push(pattern),
    },
  },
  "vscode-languageclient/node": {
    LanguageClient: class {
      constructor(...given) {
        this.given = given;
      }
      start() {
        said.started.push(this.given);
        return Promise.resolve();
      }
      stop() {
        said.stopped += 1;
        return Promise.resolve();
      }
    },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => stand_ins[name] || load(name, ...rest);

const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const extension = require(join(folder, manifest.main));
(async () => {
  await extension.deactivate(); // nothing was started: nothing to stop
  await extension.activate({ subscriptions: [] });
  await extension.deactivate();
  const { contributes } = manifest;
  const files = [manifest.main, ...contributes.languages.map((each) => each.configuration)];
  said.missing = files.filter((file) => !existsSync(join(folder, file)));
  console.log(JSON.stringify(said));
})();
