import { code, codeList, markdownTable, type Page } from './page.ts'
import { catalog } from '../../config/catalog.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { kinds } from '../../providers/kinds/kinds.ts'
import { hasResponsesApi } from '../../providers/kinds/responses.ts'
import type { Kind, RemoteKind } from '../../providers/provider.ts'

/** The reference of the kinds of providers; their sections are written by hand. */
export const providersPage: Page = {
  path: 'docs/providers.md',
  regions: () => ({ kinds: kindTable(), unsupported: unsupportedTable() }),
}

const all = Object.values(kinds)

/** Returns the table of all kinds of providers: how they are reached. */
function kindTable(): string {
  return markdownTable(all, [
    { title: 'Kind', cell: ({ name }) => `[${code(name)}](#${name})` },
    { title: 'Key variable', cell: keyText },
    { title: 'Default base URL', cell: baseUrlText },
    { title: 'Protocol', cell: protocolText },
    { title: 'Built-in models', cell: builtInText },
    { title: '`api: responses`', cell: (kind) => (hasResponsesApi(kind) ? 'yes' : '–') },
    { title: '`discover`', cell: discoverText },
    { title: 'Settings of its own', cell: (kind) => codeList(isRemote(kind) ? (kind.settings ?? []) : []) },
  ])
}

/** Returns the table of what each kind ignores or rejects. */
function unsupportedTable(): string {
  return markdownTable(all, [
    { title: 'Kind', cell: ({ name }) => code(name) },
    { title: 'Parameters that are not supported', cell: (kind) => codeList(unsupportedParameters(kind)) },
    { title: 'Ignored with a warning', cell: (kind) => codeList(ignoredFields(kind)) },
    { title: 'Images', cell: imageText },
  ])
}

/** Returns the table of the variables that hold the keys of providers. */
export function kindVariableTable(): string {
  const rows = all.flatMap((kind) =>
    isRemote(kind) ? kind.keyVariables.map((variable) => ({ kind, variable })) : [],
  )
  return markdownTable(rows, [
    { title: 'Variable', cell: ({ variable }) => code(variable) },
    { title: 'Kind', cell: ({ kind }) => `[${code(kind.name)}](providers.md#${kind.name})` },
  ])
}

function isRemote(kind: Kind): kind is RemoteKind {
  return 'protocol' in kind
}

function keyText(kind: Kind): string {
  if (!isRemote(kind)) return 'no key'
  if (kind.googleCloud) return code('GOOGLE_APPLICATION_CREDENTIALS')
  if (kind.keyVariables.length > 0) return codeList(kind.keyVariables)
  return kind.keyless ? 'none; the key is optional' : '–'
}

function baseUrlText(kind: Kind): string {
  if (!isRemote(kind)) return 'in this process'
  if (kind.googleCloud) return 'from `project` and `location`'
  return kind.baseUrl === undefined ? 'required' : code(kind.baseUrl)
}

/** The path reveals the protocol: each has an endpoint of its own. */
function protocolText(kind: Kind): string {
  if (!isRemote(kind)) return 'none'
  const path = kind.path(
    { model: 'model', stream: false },
    { baseUrl: kind.baseUrl ?? 'https://example.com' },
  )
  if (path.includes('/chat/completions')) return '[Chat Completions](#chat-completions)'
  return path.includes(':generateContent') ? '[Gemini](#gemini-api)' : '[Messages](#messages-api)'
}

function builtInText({ name }: Kind): string {
  const served = catalog.models.filter(({ routes = [] }) => routes.some(({ provider }) => provider === name))
  return served.length === 0 ? '–' : String(served.length)
}

function discoverText(kind: Kind): string {
  if (!isRemote(kind)) return '–'
  return kind.listing?.path({ baseUrl: 'https://example.com' }) === undefined && kind.listing ? '–' : 'yes'
}

function imageText(kind: Kind): string {
  if (!isRemote(kind)) return '–'
  return kind.protocol.inlineImages
    ? 'inline; the gateway fetches those at an https URL'
    : 'inline and by URL'
}

function unsupportedParameters(kind: Kind): readonly Parameter[] {
  const supported = isRemote(kind) ? kind.protocol.parameters : kind.parameters
  return parameters.filter((parameter) => !supported.has(parameter))
}

/** Renders a request with each field that is not a parameter, and returns those that the protocol warns of. */
function ignoredFields(kind: Kind): readonly string[] {
  if (!isRemote(kind)) return []
  const unsupported = new Set<string>(unsupportedParameters(kind))
  return fieldProbes
    .filter(([field, changes]) => !unsupported.has(field) && isIgnored(kind, changes))
    .map(([field]) => field)
}

function isIgnored({ name, protocol }: RemoteKind, changes: Partial<Generation>): boolean {
  const warnings: string[] = []
  // What Anthropic supports depends on the model.
  const model = name.endsWith('anthropic') ? 'claude-sonnet-5-5' : 'model'
  const target = { model, stream: false, maxOutputTokens: 1000 }
  protocol.render({ ...plainRequest, ...changes }, target, (warning) => warnings.push(warning))
  return warnings.some((warning) => /\bnot supported\b/.test(warning) || /\bwas ignored\b/.test(warning))
}

const plainRequest: Generation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  extras: {},
}

const fieldProbes: readonly (readonly [field: string, changes: Partial<Generation>])[] = [
  ['user', { user: 'user-1' }],
  ['service_tier: flex', { serviceTier: 'flex' }],
  ['service_tier: priority', { serviceTier: 'priority' }],
  ['logprobs', { extras: { logprobs: true } }],
  [
    'messages[].name',
    { messages: [{ role: 'user', name: 'Ada', parts: [{ type: 'text', text: 'Hello' }] }] },
  ],
  ['tools[].function.strict', { tools: [{ name: 'look', parameters: { type: 'object' }, strict: true }] }],
]
