import { catalog } from '../../config/catalog.ts'
import { loadSettings } from '../../config/load.ts'
import { createModelRegistry } from '../../gateway/models/model-registry.ts'
import type { Model, Models } from '../../gateway/models/model.ts'
import type { Log } from '../../lib/log.ts'
import { renderModel } from '../../api/models/render.ts'
import { configureProviders } from '../../providers/config/configure-providers.ts'
import { localEngines } from '../../providers/config/local-engines.ts'
import { type Command, commonFlagsHelp, parseFlags, type CliContext } from '../args.ts'
import { filterModels } from '../filter-models.ts'
import { logTo } from '../log.ts'
import { modelTable } from '../model-table.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir models [FILTER] [--provider NAME] [--author NAME] [--all] [--json]

Lists the enabled models, as GET /v1/models does, with their prices in USD per million tokens
and the routes that serve them. Providers with “discover: true” and an Ollama on this machine
are asked for theirs. FILTER is a part of a slug, an alias or a provider's own name of a model;
upper and lower case are the same.

Flags
  --provider NAME  only models that this provider serves
  --author NAME    only models of this author, as in GET /v1/models and in their slugs
  --all            also the models that are disabled, and why

Examples
  weir models gpt
  weir models --provider groq
  weir models --all gemini

${commonFlagsHelp}`

/** `weir models`. */
export const models: Command = {
  name: 'models',
  summary: 'list the enabled models, with prices and routes',
  usage,
  async run(args, world) {
    const { flags, operands } = parseFlags(args, {
      command: 'models',
      flags: { all: 'switch', provider: 'text', author: 'text' },
      operands: ['FILTER?'],
    })
    const { enabled, all } = await currentModels(flags, world)
    const filter = { text: operands[0], provider: flags.provider, author: flags.author }
    const shown = filterModels(flags.all ? all : enabled, filter)
    if (flags.json) world.out(jsonText(shown.map(toRow)))
    else if (shown.length > 0) world.out(tableText(shown, flags.all === true))
    else world.out(noneText(filterModels(all, filter).length, flags.all === true))
    return 0
  },
}

async function currentModels(
  flags: { readonly config?: string; readonly json?: boolean },
  world: CliContext,
): Promise<Models> {
  const { settings } = loadSettings({ flags, ...world })
  const providers = configureProviders(settings, world.environment)
  const engines = localEngines(settings, world.environment)
  const registry = createModelRegistry(
    settings.models,
    providers,
    flags.json ? { ...logTo(world, true), info: () => {} } : spokenLog(world),
    engines,
  )
  await registry.start()
  await registry.stop()
  return registry.current()
}

/** Only what went wrong, in a sentence. */
function spokenLog(world: CliContext): Log {
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

/** Where none is listed: whether any would be with `--all`. */
function noneText(disabled: number, all: boolean): string {
  if (all || disabled === 0) return 'No model matches.'
  const [count, verb] = disabled === 1 ? ['1 model', 'is'] : [`${disabled} models`, 'are']
  return `No enabled model matches; ${count} that ${verb} disabled would: weir models --all says why.`
}

function tableText(shown: readonly Model[], all: boolean): string {
  return `${modelTable(shown, all)}\n\nPrices in USD per million tokens; built-in facts of ${catalog.snapshot}.`
}
