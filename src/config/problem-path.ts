/** Returns the path of a child: `models[2].routes[0]`, `providers.openai`. */
export function problemPath(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`
  const name = /^[\w./-]+$/.test(part) ? part : JSON.stringify(part)
  return path === '' ? name : `${path}.${name}`
}
