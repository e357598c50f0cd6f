import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileErrorReason } from '../../config/file-problems.ts'
import { parseJson } from '../../lib/json/json.ts'
import { causeOf } from '../../lib/log.ts'
import { readText, TooLongError } from '../../lib/read-text.ts'
import { measureJson } from '../../lib/validation/json-bounds.ts'
import { CommandError } from '../errors.ts'
import { isLoopback } from '../running-gateway.ts'

const maxBytes = 64 * 1024 * 1024
const tooLong = 'it has more than 64 MiB'

/** For the whole download. */
const timeoutMs = 60_000

const maxRedirects = 5

/** Fifty times the largest known list. */
const limits = { maxDepth: 64, maxWeight: 16_777_216 }

/** A list of models, and where it came from. */
type LoadedSource = { readonly value: unknown; readonly source: string }

/** Reads the file or the HTTPS URL; throws `CommandError` if that fails. */
export async function loadSource(from: string, cwd: string): Promise<LoadedSource> {
  const url = /^[a-z][a-z0-9+.-]+:\/\//i.test(from) ? URL.parse(from) : undefined
  if (url === null) throw new CommandError('--from is not a valid URL.')
  if (url !== undefined && !/^https?:$/.test(url.protocol))
    throw new CommandError('--from must be the path of a file or a URL that begins with https://.')
  const source = url === undefined ? resolve(cwd, from) : `${url.origin}${url.pathname}`
  const text = url === undefined ? readSourceFile(source) : await download(url, source)
  if (measureJson(text, limits).broken !== undefined)
    throw new CommandError(`${source} has more values, or deeper ones, than any list of models.`)
  const value = parseJson(text.replace(/^\uFEFF/, ''))
  if (value === undefined) throw new CommandError(`${source} is not valid JSON.`)
  return { value, source }
}

function readSourceFile(path: string): string {
  try {
    const stats = statSync(path)
    if (stats.isFile() && stats.size <= maxBytes) return readFileSync(path, 'utf8')
    throw new CommandError(`${path} cannot be read: ${stats.isFile() ? tooLong : 'it is not a file'}.`)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${path} cannot be read: ${fileErrorReason(error)}.`)
  }
}

async function download(url: URL, source: string): Promise<string> {
  try {
    const response = await follow(url, AbortSignal.timeout(timeoutMs))
    if (response.ok) return await readText(response, maxBytes)
    void response.body?.cancel()
    throw new Error(`the server returned status ${response.status}`)
  } catch (error) {
    const cause = error instanceof TooLongError ? tooLong : causeOf(error)
    throw new CommandError(`${source} cannot be read: ${cause}.`)
  }
}

/** Follows redirects, of which each target must be as safe as the first URL. */
async function follow(first: URL, signal: AbortSignal): Promise<Response> {
  const isLocal = isLocalHttp(first)
  let url = first
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (url.username !== '' || url.password !== '') throw new Error('a URL with a password is not supported')
    if (url.protocol !== 'https:' && !(isLocal && isLocalHttp(url)))
      throw new Error(`${url.protocol}//${url.host} does not use https`)
    const response = await fetch(url, { signal, redirect: 'manual', headers: { accept: 'application/json' } })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    void response.body?.cancel()
    url = new URL(location, url)
  }
  throw new Error(`it redirects more than ${maxRedirects} times`)
}

/** Plain HTTP is safe within this machine. */
function isLocalHttp({ protocol, origin }: URL): boolean {
  return protocol === 'http:' && isLoopback(origin)
}
