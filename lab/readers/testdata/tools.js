// Prints for each case of standard input, a line of JSON each, what the JavaScript SDK reads, as JSON too:
// MODE/ATTEMPTS, or refused.
const { loadConfig } = require("@smithy/node-config-provider");
const retry = require("@smithy/middleware-retry");

const unset = { default: async () => "-" };

async function main() {
  for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, JSON.parse(line));
    const read = (options) => loadConfig({ ...options, ...unset })().catch(() => "refused");
    const answer = [await read(retry.NODE_RETRY_MODE_CONFIG_OPTIONS), await read(retry.NODE_MAX_ATTEMPT_CONFIG_OPTIONS)];
    console.log(JSON.stringify(answer.includes("refused") ? "refused" : answer.join("/")));
  }
}

main();
