import { renderModel } from '../../api/models/render.ts'
import { catalogOrigin } from '../../config/catalog.ts'
import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { Log } from '../../lib/log.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { currentModels } from '../current-models.ts'
import { logTo } from '../log.ts'
import { type Column, table } from '../output.ts'
import { updateCatalog, updateUsage } from '../catalog/update-catalog.ts'

const usage = `Usage
  weir models [FILTER] [--provider NAME] [--author NAME] [--all] [--json]
  weir models update --from FILE|URL [--accept all|SLUG,…] [--dry-run] [--json]
  weir models update --reset

Lists the enabled models, like GET /v1/models, with their prices in USD per million tokens and
their routes. The list includes the models of providers with “discover: true” and of an Ollama
server on this machine.

Arguments
  FILTER           only models whose slug, alias or model name at a provider contains this text;
                   case-insensitive

Flags
  --provider NAME  only models of this provider; default: all providers
  --author NAME    only models of this author, as in GET /v1/models or in the slug; default: all
  --all            also list disabled models, with the reason why they are disabled

${updateUsage}

Examples
  weir models gpt
  weir models --provider groq
  weir models --all gemini
  weir models update --from https://models.dev/api.json --dry-run
  weir models update --from prices.json --accept openai/gpt-5.5,openai/gpt-6-luna

${commonFlagsHelp}`

/** `weir models`. */
export const command: Command = {
  usage,
  run: (args, context) =>
    args[0] === 'update' ? updateCatalog(args.slice(1), context) : list(args, context),
}

const flags = { all: 'switch', provider: 'text', author: 'text' } as const

const list = subcommand('models', { flags, operands: ['FILTER?'] }, async (call) => {
  const { flags, context } = call
  const loaded = loadSettings({ flags, ...context })
  const { enabled, all } = await currentModels(loaded, context, { log: modelsLog(context, flags.json) })
  const filter = { text: call.operands[0], provider: flags.provider, author: flags.author }
  const matching = filterModels(flags.all ? all : enabled, filter)
  const text =
    matching.length > 0
      ? tableText(matching, flags.all === true, loaded)
      : noMatchText(filterModels(all, filter).length, flags.all === true)
  call.print(matching.map(modelJson), text)
})

/** The log: on a terminal sentences, with `--json` lines without information. */
function modelsLog(context: CliContext, json: boolean | undefined): Log {
  return json ? { ...logTo(context, true), info: () => {} } : terminalLog(context)
}

/** Logs only warnings and errors, as sentences. */
function terminalLog(context: CliContext): Log {
  return {
    info: () => {},
    warn: (message, fields) => context.err(`${message} ${fields?.provider}: ${fields?.cause}`),
    error: (message) => context.err(message),
  }
}

/** Returns a model as GET /v1/models does, with its routes and why it is disabled. */
function modelJson(model: Model) {
  return {
    ...renderModel(model),
    routes: model.routes.map(({ provider, model }) => ({ provider: provider.name, model })),
    enabled: model.disabled === undefined,
    reason: model.disabled ?? model.keyMissing ?? null,
  }
}

/** The message for an empty list: says if `--all` would list any model. */
function noMatchText(disabled: number, all: boolean): string {
  if (all || disabled === 0) return 'No models match.'
  const [count, verb] = disabled === 1 ? ['1 matching model', 'is'] : [`${disabled} matching models`, 'are']
  return `No enabled models match, but ${count} ${verb} disabled. To see why, run: weir models --all`
}

function tableText(matching: readonly Model[], all: boolean, { settings }: LoadedSettings): string {
  return `${modelTable(matching, all)}\n\nPrices are in USD per million tokens. ${catalogOrigin(settings.catalog)}`
}

/** Conditions that all must hold; an absent one is ignored. */
type ModelFilter = {
  /** A part of the slug, of an alias, or of a provider's name of the model. */
  readonly text?: string | undefined
  /** The name of a provider that serves the model. */
  readonly provider?: string | undefined
  readonly author?: string | undefined
}

/** Returns the models that match the filter, case-insensitively and in their order. */
function filterModels(models: readonly Model[], filter: ModelFilter): readonly Model[] {
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

/** Formats the models for the terminal; `reasons` adds a column with the state. */
function modelTable(models: readonly Model[], reasons: boolean): string {
  const ending = models.some(({ shutdownDate }) => shutdownDate !== undefined) ? [endColumn] : []
  return table(models, [...columns, ...ending, ...(reasons ? [stateColumn] : [])])
}

const columns: readonly Column<Model>[] = [
  { title: 'MODEL', value: ({ slug }) => slug },
  { title: 'INPUT', value: ({ pricing }) => amount(pricing?.input), align: 'right' },
  { title: 'OUTPUT', value: ({ pricing }) => amount(pricing?.output), align: 'right' },
  { title: 'CACHED', value: ({ pricing }) => amount(pricing?.cache_read), align: 'right' },
  { title: 'CONTEXT', value: ({ contextWindow }) => amount(contextWindow), align: 'right' },
  { title: 'ROUTES', value: routesOf },
]

/** The day on which the provider stops serving a model. */
const endColumn: Column<Model> = { title: 'ENDS', value: ({ shutdownDate }) => shutdownDate ?? '-' }

const stateColumn: Column<Model> = {
  title: 'STATE',
  value: ({ disabled, keyMissing }) => {
    if (disabled !== undefined) return `disabled: ${disabled}`
    return keyMissing === undefined ? 'enabled' : `enabled, but the API key is missing: ${keyMissing}`
  },
}

function amount(value: number | undefined): string {
  return value?.toLocaleString('en-US', { maximumFractionDigits: 9 }) ?? '-'
}

function routesOf({ routes }: Model): string {
  return routes.map(({ provider, model }) => `${provider.name}:${model}`).join(', ') || '-'
}
