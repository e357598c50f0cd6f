import { renderModel } from '../../api/models/render.ts'
import { catalog } from '../../config/catalog.ts'
import { loadSettings } from '../../config/load.ts'
import { createModelRegistry } from '../../gateway/models/model-registry.ts'
import type { Model, Models } from '../../gateway/models/model.ts'
import type { Log } from '../../lib/log.ts'
import { configureProviders } from '../../providers/config/configure-providers.ts'
import { localEngines } from '../../providers/config/local-engines.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import type { Command } from '../command.ts'
import type { CliContext } from '../context.ts'
import { logTo } from '../log.ts'
import { type Column, jsonText, table } from '../output.ts'

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
  async run(args, context) {
    const { flags, operands } = parseFlags(args, {
      command: 'models',
      flags: { all: 'switch', provider: 'text', author: 'text' },
      operands: ['FILTER?'],
    })
    const { enabled, all } = await currentModels(flags, context)
    const filter = { text: operands[0], provider: flags.provider, author: flags.author }
    const shown = filterModels(flags.all ? all : enabled, filter)
    if (flags.json) context.out(jsonText(shown.map(modelJson)))
    else if (shown.length > 0) context.out(tableText(shown, flags.all === true))
    else context.out(noMatchText(filterModels(all, filter).length, flags.all === true))
    return 0
  },
}

async function currentModels(
  flags: { readonly config?: string; readonly json?: boolean },
  context: CliContext,
): Promise<Models> {
  const { settings } = loadSettings({ flags, ...context })
  const providers = configureProviders(settings, context.environment)
  const engines = localEngines(settings, context.environment)
  const registry = createModelRegistry(
    settings.models,
    providers,
    flags.json ? { ...logTo(context, true), info: () => {} } : terminalLog(context),
    engines,
  )
  await registry.start()
  await registry.stop()
  return registry.current()
}

/** Only what went wrong, in a sentence. */
function terminalLog(context: CliContext): Log {
  return {
    info: () => {},
    warn: (message, fields) => context.err(`${message} ${fields?.provider}: ${fields?.cause}`),
    error: (message) => context.err(message),
  }
}

/** A model for programs: as GET /v1/models shows it, with its routes and why it is off. */
function modelJson(model: Model) {
  return {
    ...renderModel(model),
    routes: model.routes.map(({ provider, model }) => ({ provider: provider.name, model })),
    enabled: model.disabled === undefined,
    reason: model.disabled ?? model.keyMissing ?? null,
  }
}

/** Where none is listed: whether any would be with `--all`. */
function noMatchText(disabled: number, all: boolean): string {
  if (all || disabled === 0) return 'No model matches.'
  const [count, verb] = disabled === 1 ? ['1 model', 'is'] : [`${disabled} models`, 'are']
  return `No enabled model matches; ${count} that ${verb} disabled would: weir models --all says why.`
}

function tableText(shown: readonly Model[], all: boolean): string {
  return `${modelTable(shown, all)}\n\nPrices in USD per million tokens; built-in facts of ${catalog.snapshot}.`
}

/** What models are to have in common; what is absent does not matter. */
export type ModelFilter = {
  /** A part of the slug, of an alias, or of a provider's own name of the model. */
  readonly text?: string | undefined
  /** The name of a provider that serves it. */
  readonly provider?: string | undefined
  readonly author?: string | undefined
}

/** The models that fit the filter, in their order. Upper and lower case are the same. */
export function filterModels(models: readonly Model[], filter: ModelFilter): readonly Model[] {
  const [text, provider, author] = [filter.text, filter.provider, filter.author].map((part) =>
    part?.toLowerCase(),
  )
  return models.filter((model) => {
    const names = [model.slug, ...model.aliases, ...model.routes.map((route) => route.model)]
    if (text !== undefined && !names.some((name) => name.toLowerCase().includes(text))) return false
    if (
      author !== undefined &&
      ![model.author, model.slug.split('/')[0]].some((name) => name?.toLowerCase() === author)
    )
      return false
    return (
      provider === undefined || model.routes.some((route) => route.provider.name.toLowerCase() === provider)
    )
  })
}

/** The models for a person; `reasons` adds why a model is off. */
export function modelTable(models: readonly Model[], reasons: boolean): string {
  return table(models, reasons ? [...columns, stateColumn] : columns)
}

const columns: readonly Column<Model>[] = [
  { title: 'MODEL', value: ({ slug }) => slug },
  { title: 'INPUT', value: ({ pricing }) => amount(pricing?.input), align: 'right' },
  { title: 'OUTPUT', value: ({ pricing }) => amount(pricing?.output), align: 'right' },
  { title: 'CACHED', value: ({ pricing }) => amount(pricing?.cache_read), align: 'right' },
  { title: 'CONTEXT', value: ({ contextWindow }) => amount(contextWindow), align: 'right' },
  { title: 'ROUTES', value: routesOf },
]

const stateColumn: Column<Model> = {
  title: 'STATE',
  value: ({ disabled, keyMissing }) => {
    if (disabled !== undefined) return `off: ${disabled}`
    return keyMissing === undefined ? 'on' : `on, without a key: ${keyMissing}`
  },
}

function amount(value: number | undefined): string {
  return value?.toLocaleString('en-US', { maximumFractionDigits: 9 }) ?? '-'
}

function routesOf({ routes }: Model): string {
  return routes.map(({ provider, model }) => `${provider.name}:${model}`).join(', ') || '-'
}
