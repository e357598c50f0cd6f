/**
 * The path of a request as it was sent. The URL is not parsed for it: the host before it is what the caller wrote, and
 * may be none.
 */
export function requestPath({ url }: Request): string {
  const host = url.indexOf('://')
  const start = url.indexOf('/', host < 0 ? 0 : host + 3)
  const [path = ''] = start < 0 ? [] : url.slice(start).split(/[?#]/, 1)
  return path || '/'
}
