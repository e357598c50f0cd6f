import { catalog } from '../../config/catalog.ts'
import type { ProviderSettings } from '../../config/provider-settings.ts'
import { nameSet } from '../../lib/text.ts'
import { kinds, remoteKind } from '../../providers/kinds/kinds.ts'
import { type Notes, variableText } from './source.ts'
import type { ProviderDraft } from './provider-draft.ts'

/** The providers of the imported settings. */
export class ProviderRegistry {
  readonly #entries = new Map<string, RegisteredProvider>()

  /** Returns the provider of the draft: the same one for drafts that do not differ. */
  register(draft: ProviderDraft, path: string): RegisteredProvider {
    const identity = identityOf(draft)
    const known = this.#entries.get(identity)
    if (known !== undefined) {
      known.sources.push(path)
      return known
    }
    const created: RegisteredProvider = { draft, name: '', discover: false, sources: [path] }
    this.#entries.set(identity, created)
    return created
  }

  /**
   * Names the providers. The catalog's models belong to the provider that is named like its kind, so that name goes to
   * the one with the fewest settings of its own.
   */
  assignNames(): void {
    const entries = [...this.#entries.values()]
    const used = new Set<string>()
    for (const [kind, candidates] of Map.groupBy(entries, ({ draft }) => draft.kind)) {
      const namesake = namesakeOf(kind, candidates)
      if (namesake === undefined) continue
      namesake.name = kind
      used.add(kind)
    }
    for (const entry of entries) {
      if (entry.name !== '') continue
      entry.name = uniqueName(suggestedName(entry.draft), used)
      used.add(entry.name)
    }
  }

  /** The entries of `providers`; a key in plain text becomes a variable, which is noted. */
  settings(notes: Notes): Record<string, ProviderSettings> {
    const entries = [...this.#entries.values()]
    return Object.fromEntries(entries.map((entry) => [entry.name, settingsOf(entry, notes)]))
  }

  /** True for the name of a provider whose models the built-in catalog has. */
  static isInCatalog(name: string): boolean {
    return catalogProviders.has(name)
  }

  /** Where each provider came from: the paths of its deployments, by name. */
  sources(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#entries.values()].map(({ name, sources }) => [name, sources]))
  }
}

/** A provider of the imported settings; it has a name once all are registered. */
export type RegisteredProvider = {
  readonly draft: ProviderDraft
  name: string
  /** Its list of models is used, because the source has a wildcard. */
  discover: boolean
  readonly sources: string[]
}

/** Two drafts with the same identity are one provider. It contains secrets. */
function identityOf(draft: ProviderDraft): string {
  const { kind, settings, literalKey, literalHeaders } = draft
  const sorted = Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([kind, sorted, literalKey, Object.entries(literalHeaders)])
}

/** The provider that is named like its kind: at the default address, or the only one of a kind that is in no catalog. */
function namesakeOf(kind: string, entries: readonly RegisteredProvider[]): RegisteredProvider | undefined {
  if (kind === 'openai-compatible') return undefined
  if (entries.length === 1 && !catalogProviders.has(kind)) return entries[0]
  return entries.filter(isOfficial).toSorted((a, b) => complexityOf(a.draft) - complexityOf(b.draft))[0]
}

const catalogProviders: ReadonlySet<string> = new Set(
  catalog.models.flatMap(({ routes = [] }) => routes.map(({ provider }) => provider)),
)

/** True for a provider at the address that its kind has by default. */
function isOfficial({ draft }: RegisteredProvider): boolean {
  return draft.settings.base_url === undefined && draft.settings.project === undefined
}

function complexityOf({ settings, literalKey, literalHeaders }: ProviderDraft): number {
  return Object.keys({ ...settings, ...literalHeaders }).length + (literalKey === undefined ? 0 : 1)
}

/** The kind and the first part of the host that says something, such as `azure-my-resource`. */
function suggestedName({ kind, settings }: ProviderDraft): string {
  const prefix = kind === 'openai-compatible' ? '' : kind
  const place = settings.base_url === undefined ? (settings.location ?? '') : hostName(settings.base_url)
  const name = [place.startsWith(prefix) ? '' : prefix, place]
    .filter((part) => part !== '')
    .join('-')
    .toLowerCase()
  const plain = name
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
  return plain === '' ? 'openai-compatible' : plain
}

function hostName(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  if (url === null) return baseUrl
  const { hostname, port } = url
  const end = port === '' ? '' : `-${port}`
  if (/^(localhost|127\.|0\.0\.0\.0|\[::1\])/.test(hostname)) return `local${end}`
  if (/^[\d.]+$|\[/.test(hostname)) return `host-${hostname}${end}`
  const [first = '', second = ''] = hostname.split('.')
  return genericLabels.has(first) && second !== '' ? second : first
}

/** First parts of a host that do not say whose it is. */
const genericLabels = nameSet('api www llm inference gateway proxy open')

function uniqueName(name: string, used: ReadonlySet<string>): string {
  // The name of a kind would be taken for that kind's own provider.
  const isFree = (candidate: string) => !used.has(candidate) && !Object.hasOwn(kinds, candidate)
  if (isFree(name)) return name
  for (let number = 2; ; number++) if (isFree(`${name}-${number}`)) return `${name}-${number}`
}

function settingsOf({ name, draft, discover, sources }: RegisteredProvider, notes: Notes): ProviderSettings {
  const { kind, settings, literalKey } = draft
  const headers = { ...settings.headers, ...headerVariables(name, draft, sources[0] ?? '', notes) }
  const key = literalKey === undefined ? undefined : keyVariable(name, kind)
  if (key !== undefined) for (const path of sources) notes.add(`${path}.api_key`, plainKeyReason(key))
  const ownVariable = key !== undefined && name === kind && remoteKind(kind)?.keyVariables[0] === key
  return {
    ...(name !== kind && { kind }),
    ...settings,
    ...(key !== undefined && !ownVariable && { api_key: variableText(key) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(discover && { discover }),
  }
}

function headerVariables(
  name: string,
  { literalHeaders }: ProviderDraft,
  path: string,
  notes: Notes,
): Record<string, string> {
  const entries = Object.keys(literalHeaders).map((header): [string, string] => {
    const variable = `${variableName(name)}_${variableName(header)}`
    notes.add(`${path}.extra_headers`, `The secret in the header ${header} was not copied; set ${variable}.`)
    return [header, variableText(variable)]
  })
  return Object.fromEntries(entries)
}

function keyVariable(name: string, kind: string): string {
  return (name === kind ? remoteKind(kind)?.keyVariables[0] : undefined) ?? `${variableName(name)}_API_KEY`
}

function variableName(text: string): string {
  const name = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return /^\d/.test(name) ? `PROVIDER_${name}` : name
}

function plainKeyReason(variable: string): string {
  return `The key in plain text was not copied; set the environment variable ${variable}.`
}
