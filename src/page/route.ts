import { useEffect, useState } from 'preact/hooks'

/** The place in the page that an address such as `#/models/openai/gpt-6-luna?tab=prices` names. */
export type PageRoute = {
  /** The first segment: the view. */
  readonly view: string
  /** The decoded segments after it. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** Parses the fragment of an address. */
function parseRoute(hash: string): PageRoute {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  const [view = '', ...rest] = path.split('/').filter(Boolean).map(decode)
  return { view, path: rest, query: new URLSearchParams(query) }
}

/** Renders the fragment of a place: a slash within a segment separates segments, so that slugs stay legible. */
export function routeHash(
  view: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const segments = path.flatMap((segment) => segment.split('/')).map(encodeURIComponent)
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const text = new URLSearchParams(Object.fromEntries(set)).toString()
  return `#/${[view, ...segments].join('/')}${text === '' ? '' : `?${text}`}`
}

/** Changes the query of the current place without a new entry in the history. */
export function replaceQuery(query: Readonly<Record<string, string | undefined>>): void {
  const { view, path } = parseRoute(location.hash)
  history.replaceState(null, '', routeHash(view, path, query))
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The filter of a list as the address has it, and what changes it there. A value of `defaults` is not written. */
export function filterIn<Filter extends Readonly<Record<string, string>>>(
  query: URLSearchParams,
  defaults: Filter,
): { readonly filter: Filter; readonly change: (changed: Partial<Filter>) => void } {
  const filter = mapFields(defaults, (name, value) => query.get(name) ?? value) as Filter
  return {
    filter,
    change: (changed) =>
      replaceQuery(
        mapFields({ ...filter, ...changed }, (name, value) => (value === defaults[name] ? undefined : value)),
      ),
  }
}

function mapFields<Value>(
  fields: Readonly<Record<string, string>>,
  map: (name: string, value: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(name, value)]))
}

/** The current place; the component renders again when it changes. */
export function useRoute(): PageRoute {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    // The address may have changed since the component was rendered.
    follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return parseRoute(hash)
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
