// Drives the OpenClaw plugin as its host does: registers it, makes its tools for a context, calls
// them. Reads a JSON object with `plugin`, `config`, `pluginConfig`, `calls`; prints what came.
import { pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const { default: plugin } = await import(pathToFileURL(asked.plugin));
const printed = { tools: [], answers: [], logged: [] };
const factories = new Map();
const listeners = new Map();
const log = (text) => printed.logged.push(text);
let capability;

plugin.register({
  config: asked.config ?? {},
  pluginConfig: asked.pluginConfig,
  logger: { info: log, warn: log, error: log },
  registerTool: (factory, { names }) => factories.set(names[0], factory),
  registerMemoryCapability: (value) => (capability = value),
  on: (event, listener) => listeners.set(event, listener),
});

for (const factory of factories.values()) {
  const { execute, ...spec } = factory({});
  printed.tools.push(spec);
}
for (const { tool, args, ...context } of asked.calls ?? [])
  printed.answers.push(await factories.get(tool)(context).execute("1", args));
printed.kind = plugin.kind;
printed.capability = Object.keys(capability);
printed.section = capability.promptBuilder({ availableTools: new Set(asked.available ?? []) });
printed.plan = capability.flushPlanResolver(asked.flush ?? {});
await listeners.get("gateway_stop")();
console.log(JSON.stringify(printed));
