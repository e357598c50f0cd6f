const templateText = String.raw`(?:\\[^]|\$(?!\{)|[^\`\\$])*(?:\`|\$\{)`
const patterns = {
  template: new RegExp(`\`${templateText}`, 'y'),
  /** The text after a `${…}` of a template. */
  templateRest: new RegExp(`\\}${templateText}`, 'y'),
  regex: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y,
  space: /\s+|\/\/.*|\/\*[^]*?\*\//y,
  string: /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y,
  word: /[\p{L}_$][\w$]*|\d[\w.]*/uy,
} as const

/** Returns each identifier of a TypeScript text once, and no words of comments, strings or regular expressions. */
export function identifiersOf(text: string): readonly string[] {
  const words = [...tokensOf(text)].filter(([kind]) => kind === 'word')
  return [...new Set(words.map(([, token]) => token))]
}

/** Returns the text of each string of a TypeScript text; the text of a template is split at each `${…}`. */
export function stringsOf(text: string): readonly string[] {
  const strings = [...tokensOf(text)].filter(([kind]) => kind === 'string' || kind.startsWith('template'))
  return strings.map(([, token]) => token.slice(1).replace(/(['"`]|\$\{)$/, ''))
}

function* tokensOf(text: string): Generator<readonly [Kind, string]> {
  // For each open `${…}`: how many braces are open within it.
  const braces: number[] = []
  let previous = ''
  for (let index = 0; index < text.length;) {
    const [kind, token] = tokenAt(text, index, { inTemplate: braces.at(-1) === 0, previous })
    index += token.length
    if (kind === 'space') continue
    if (kind === 'templateRest') braces.pop()
    if (kind.startsWith('template') && token.endsWith('${')) braces.push(0)
    if (token === '{' && braces.length > 0) braces.push((braces.pop() ?? 0) + 1)
    if (token === '}' && braces.length > 0) braces.push((braces.pop() ?? 0) - 1)
    yield [kind, token]
    previous = token
  }
}

type Kind = keyof typeof patterns | 'other'
type State = { readonly inTemplate: boolean; readonly previous: string }

function tokenAt(text: string, index: number, { inTemplate, previous }: State): readonly [Kind, string] {
  const kinds: readonly Kind[] = [
    'space',
    'string',
    'word',
    'template',
    ...(inTemplate ? (['templateRest'] as const) : []),
    ...(mayPrecedeRegex(previous) ? (['regex'] as const) : []),
  ]
  for (const kind of kinds) {
    if (kind === 'other') continue
    const pattern = patterns[kind]
    pattern.lastIndex = index
    const token = pattern.exec(text)?.[0]
    if (token !== undefined) return [kind, token]
  }
  return ['other', text[index] ?? '']
}

/** After a value a slash divides; elsewhere it begins a regular expression. */
function mayPrecedeRegex(token: string): boolean {
  return /^(return|typeof|case|)$/.test(token) || /[^\w$)\]}'"`/]$/.test(token)
}

/** Returns the text of the doc comments that stand before an export. */
export function exportedDocsOf(text: string): readonly string[] {
  return [...text.matchAll(/\/\*\*(?:(?!\*\/)[^])*\*\/(?=\s*export\b)/g)].map(([comment]) => comment)
}

/** Splits an identifier at camelCase and snake_case, in lower case: `maxPathSteps` is `max`, `path` and `steps`. */
export function wordsOf(identifier: string): readonly string[] {
  const words = identifier.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return words.map((word) => word.toLowerCase())
}
