import { type ApiError, unsupportedParameter } from '../lib/errors/errors.ts'
import { type Fields, fieldsOf, isObject } from '../lib/json/json.ts'
import { formatPath, type Path } from '../lib/validation/problem.ts'

/**
 * Throws 400 for what refers to something that a provider keeps for the account of the gateway, at any depth: it may belong
 * to another organization, and providers receive much of a request as it came, also the fields that the gateway does not
 * know. `path` is the path of the value in the request, empty for the whole request.
 */
export function rejectProviderState(value: unknown, path: string): void {
  const found = findReference(value)
  if (found) throw unsupportedState(path, found)
}

/** The path is only built where there is a reference. */
function findReference(value: unknown): Path | undefined {
  if (Array.isArray(value)) {
    for (const [index, child] of value.entries()) {
      const found = typeof child === 'object' ? findReference(child) : undefined
      if (found) return [index, ...found]
    }
  } else if (isObject(value)) {
    for (const name in value) {
      const found = findInField(name, value)
      if (found) return [name, ...found]
    }
  }
  return undefined
}

function findInField(name: string, fields: Fields): Path | undefined {
  const child = fields[name]
  if (child === null || child === undefined) return undefined
  if (isId(name)) return isPublic(fields) ? undefined : []
  if (isKept(name)) {
    if (typeof child === 'string') return []
    if (fieldsOf(child).id != null) return ['id']
  }
  return typeof child === 'object' && !isUnread(name, fields) ? findReference(child) : undefined
}

/** In the spelling of JSON and of Protocol Buffers, which Google Cloud also reads. */
function isId(name: string): boolean {
  return name.length >= 6 && name.length <= 13 && /^(file|container|skill)_?ids?$/iu.test(name)
}

/** Containers that ran the code of a model, and spoken replies: both are named by an `id`, a container also by a text. */
function isKept(name: string): boolean {
  return name.length <= 9 && /^(container|audio)$/iu.test(name)
}

/** A file that a tool of the provider has made, in the result that the caller sends back, is not read; some skills are for everyone. */
function isPublic({ type }: Fields): boolean {
  return typeof type === 'string' && (type.endsWith('code_execution_output') || type === 'anthropic')
}

/** Not read as content, whatever it names: the input of a tool, and what a model has cited. */
function isUnread(name: string, { type }: Fields): boolean {
  return name === 'annotations' || (name === 'input' && typeof type === 'string' && type.endsWith('tool_use'))
}

function unsupportedState(within: string, found: Path): ApiError {
  const tail = formatPath(found) ?? ''
  const param = within === '' || tail.startsWith('[') ? within + tail : `${within}.${tail}`
  const isFile = /^file/i.test(String(found.at(-1)))
  const advice = isFile
    ? 'The gateway does not store files; send the file content instead.'
    : "It would refer to the gateway's account at the provider; remove it."
  return unsupportedParameter(`Unsupported parameter: '${param}'. ${advice}`, param)
}
