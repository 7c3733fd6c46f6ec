// Prints the scope of each token of the standard input, as the TextMate engine of VS Code sees it.
const fs = require("fs");
const path = require("path");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const file = path.join(__dirname, "../../grammar/editors/aug.tmLanguage.json");

async function main() {
  await loadWASM(fs.readFileSync(path.join(require.resolve("vscode-oniguruma"), "../onig.wasm")).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner: (all) => new OnigScanner(all), createOnigString: (s) => new OnigString(s) }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  const grammar = await registry.loadGrammar("source.aug");
  let stack = INITIAL;
  const found = [];
  for (const line of fs.readFileSync(0, "utf8").split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    for (const token of tokens) {
      const text = line.slice(token.startIndex, token.endIndex);
      if (text.trim()) found.push([text.trim(), token.scopes[token.scopes.length - 1]]);
    }
    stack = ruleStack;
  }
  console.log(JSON.stringify(found));
}

main();
