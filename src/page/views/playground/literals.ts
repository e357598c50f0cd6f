/** The variable that has the key: code is shared, a key is not. */
export const keyVariable = 'WEIR_API_KEY'

/** JSON as a literal of TypeScript. */
export function typescriptLiteral(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([a-zA-Z_]\w*)": /gm, '$1$2: ')
}

/** JSON as a literal of Python, at this depth of the code; its strings are valid there too. */
export function pythonLiteral(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth + 1)
  const end = '    '.repeat(depth)
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}${pythonLiteral(item, depth + 1)},\n`)
    return items.length === 0 ? '[]' : `[\n${items.join('')}${end}]`
  }
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${indent}${JSON.stringify(name)}: ${pythonLiteral(field, depth + 1)},\n`,
  )
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${end}}`
}
