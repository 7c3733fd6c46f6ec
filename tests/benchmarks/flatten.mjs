// Times the JavaScript mergers on the files of a folder; prints { file: { peer: milliseconds | error } } as JSON.
// Run by flatten.py with the folder that holds `node_modules`.
import { createRequire } from "node:module";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, data] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(packages, "x.js")));
const load = async (name) => {
  try {
    return await import(pathToFileURL(require.resolve(name)).href);
  } catch {
    return null;
  }
};
const peers = {};
const mergeAllOf = await load("json-schema-merge-allof");
if (mergeAllOf) peers["json-schema-merge-allof"] = (schema) => mergeAllOf.default(schema, { ignoreAdditionalProperties: false });
const allofMerge = await load("allof-merge");
if (allofMerge) peers["allof-merge"] = (schema) => (allofMerge.merge ?? allofMerge.default.merge)(schema, { mergeRefSibling: true, mergeCombinarySibling: true });
const refParser = await load("@apidevtools/json-schema-ref-parser");
if (refParser) peers["ref-parser"] = (schema) => (refParser.default ?? refParser.$RefParser).dereference(schema);
const x0k = await load("@x0k/json-schema-merge");
const x0kArray = await load("@x0k/json-schema-merge/lib/array");
if (x0k && x0kArray) {
  const { compareSchemaDefinitions, compareSchemaValues } = x0k.createComparator();
  const { mergeArrayOfSchemaDefinitions } = x0k.createMerger({
    intersectJson: x0kArray.createIntersector(compareSchemaValues),
    deduplicateJsonSchemaDef: x0kArray.createDeduplicator(compareSchemaDefinitions),
  });
  peers.x0k = x0k.createDeepAllOfMerge(mergeArrayOfSchemaDefinitions);
}

const results = {};
for (const file of readdirSync(data).filter((name) => name.endsWith(".json")).sort()) {
  const text = readFileSync(join(data, file), "utf8");
  results[file] = {};
  for (const [name, merge] of Object.entries(peers)) {
    if (name === "json-schema-merge-allof" && text.length > 25_000) {
      results[file][name] = "takes many seconds";
      continue;
    }
    const times = [];
    try {
      const runs = file.startsWith("small") ? 300 : 9;
      const begun = performance.now();
      for (let run = 0; run < runs && performance.now() - begun < 2000; run++) {
        const schema = JSON.parse(text);
        const start = performance.now();
        await merge(schema);
        times.push(performance.now() - start);
      }
      results[file][name] = times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
    } catch (error) {
      results[file][name] = String(error.message ?? error).slice(0, 60);
    }
  }
}
console.log(JSON.stringify(results));
