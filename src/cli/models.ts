import { catalog } from '../config/catalog.ts'
import { loadSettings } from '../config/load.ts'
import { createModelRegistry } from '../gateway/models/model-registry.ts'
import type { Model, Models } from '../gateway/models/model.ts'
import type { Log } from '../lib/log.ts'
import { renderModel } from '../models/render.ts'
import { configureProviders } from '../providers/configure.ts'
import { localEngines } from '../providers/local-engines.ts'
import { type Command, commonFlagsHelp, parseFlags, type World } from './command.ts'
import { modelTable } from './model-table.ts'
import { jsonText } from './output.ts'

const usage = `Usage
  weir models [--all] [--json]

Lists the models that are on, as GET /v1/models does, with their prices in USD per million
tokens and the routes that serve them. Providers with “discover: true” and an
Ollama on this machine are asked for theirs.

Flags
  --all          also the models that are off, and why

Examples
  weir models
  weir models --all | grep gemini

${commonFlagsHelp}`

/** `weir models`. */
export const models: Command = {
  name: 'models',
  summary: 'list the models that are on, with prices and routes',
  usage,
  async run(args, world) {
    const { flags } = parseFlags(args, { command: 'models', flags: { all: 'switch' } })
    const { enabled, all } = await currentModels(flags, world)
    const shown = flags.all ? all : enabled
    world.out(flags.json ? jsonText(shown.map(toRow)) : tableText(shown, flags.all === true))
    return 0
  },
}

async function currentModels(flags: { readonly config?: string }, world: World): Promise<Models> {
  const { settings } = loadSettings({ flags, ...world })
  const providers = configureProviders(settings, world.environment)
  const engines = localEngines(settings, world.environment)
  const registry = createModelRegistry(settings.models, providers, spokenLog(world), engines)
  await registry.start()
  await registry.stop()
  return registry.current()
}

/** Only what went wrong, in a sentence. */
function spokenLog(world: World): Log {
  return {
    info: () => {},
    warn: (message, fields) => world.err(`${message} ${fields?.provider}: ${fields?.cause}`),
    error: (message) => world.err(message),
  }
}

/** A model for programs: as GET /v1/models shows it, with its routes and why it is off. */
function toRow(model: Model) {
  return {
    ...renderModel(model),
    routes: model.routes.map(({ provider, model }) => ({ provider: provider.name, model })),
    enabled: model.disabled === undefined,
    reason: model.disabled ?? model.keyMissing ?? null,
  }
}

function tableText(shown: readonly Model[], all: boolean): string {
  if (shown.length === 0) return 'No model is on. weir models --all says why.'
  return `${modelTable(shown, all)}\n\nPrices in USD per million tokens; built-in facts of ${catalog.snapshot}.`
}
