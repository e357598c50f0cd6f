import { headerProblems } from '../../../providers/config/setting-problems.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'
import { looksSecret, shortText } from '../../../lib/text.ts'
import type { RemoteKind } from '../../../providers/provider.ts'
import type { Notes } from './notes.ts'
import { importedText, type ImportedText } from './values.ts'

/** The headers of a deployment as settings, and those that hold a secret in plain text. */
export type ImportedHeaders = {
  readonly headers: Readonly<Record<string, string>>
  readonly literalHeaders: Readonly<Record<string, string>>
}

/** Reads `headers`, `extra_headers` and `organization`; names are compared without regard to case, the last one counts. */
export function readHeaders(params: Fields, kind: RemoteKind, path: string, notes: Notes): ImportedHeaders {
  const found = new Map<string, readonly [string, ImportedText]>()
  for (const field of ['headers', 'extra_headers']) {
    const entries = isObject(params[field]) ? Object.entries(params[field]).slice(0, maxHeaders) : []
    for (const [name, value] of entries) {
      const header = importedText(value)
      const problem = header === undefined ? 'It has no value.' : problemOf(name, header, kind)
      if (header === undefined || problem !== undefined)
        notes.add(`${path}.${field}.${shortText(name, 60)}`, problem ?? '')
      else found.set(name.toLowerCase(), [name, header])
    }
  }
  addOrganization(found, params, kind, path, notes)
  const all = [...found.values()]
  const isSecret = ([name, { variable, text }]: readonly [string, ImportedText]) =>
    variable === undefined && (secretName.test(name) || looksSecret(text))
  return {
    headers: toRecord(all.filter((entry) => !isSecret(entry))),
    literalHeaders: toRecord(all.filter(isSecret)),
  }
}

const maxHeaders = 50
const secretName = /auth|key|token|secret|cookie|password/i

function problemOf(name: string, { text, variable }: ImportedText, kind: RemoteKind): string | undefined {
  const keyHeaders = new Set(Object.keys(kind.authorize('')).map((header) => header.toLowerCase()))
  if (keyHeaders.has(name.toLowerCase())) return 'Weir sets this header itself; set api_key of the provider.'
  const value = variable === undefined ? text : ''
  const [problem] = headerProblems({ [name]: value }, '', keyHeaders)
  return problem === undefined ? undefined : `The header ${problem.message}`
}

/** The organization of an OpenAI account is a header. */
function addOrganization(
  found: Map<string, readonly [string, ImportedText]>,
  params: Fields,
  kind: RemoteKind,
  path: string,
  notes: Notes,
): void {
  if (params.organization === undefined || params.organization === null) return
  const organization = importedText(params.organization)
  if (
    kind.name === 'openai' &&
    organization !== undefined &&
    !problemOf('openai-organization', organization, kind)
  )
    found.set('openai-organization', ['openai-organization', organization])
  else
    notes.add(
      `${path}.organization`,
      'It must be one organization of OpenAI; add a provider with the header openai-organization for each.',
    )
}

function toRecord(entries: readonly (readonly [string, ImportedText])[]): Record<string, string> {
  return Object.fromEntries(entries.map(([name, { text }]) => [name, text]))
}
