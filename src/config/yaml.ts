import type * as Yaml from 'yaml'
import type { Document, ErrorCode, ParsedNode, YAMLError } from 'yaml'
import { problemPath, type SettingsProblem } from './problem.ts'

/** The position of a setting in its file; both begin at 1. */
type Location = { readonly line: number; readonly column: number }

/** A parsed YAML file. */
export type ParsedYaml = {
  /** The content; undefined if the syntax is too damaged to know it. A key that occurs twice has its last value. */
  readonly value: unknown
  /** Mistakes of the syntax, one for each line. They show nothing of the text. */
  readonly problems: readonly SettingsProblem[]
  /** The keys that occur again in the same mapping. */
  readonly duplicates: readonly SettingsProblem[]
  /** Returns the position of a path, or of the closest part of the file that contains it. */
  readonly locate: (path: string) => Location | undefined
}

/** The most bytes of a YAML file: the parser takes seconds for more. */
export const maxYamlBytes = 1024 * 1024
const maxProblems = 20
/** The most values that aliases may multiply a file to. */
const maxValues = 1_000_000

/** Parses a YAML text of at most `maxYamlBytes`. Never throws. */
export function parseYaml(text: string): ParsedYaml {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const problems = [{ path: '', message: `${syntaxMessages.RESOURCE_EXHAUSTION} This is not valid YAML.` }]
    return { value: undefined, problems, duplicates: [], locate: () => undefined }
  }
}

function parse(text: string): ParsedYaml {
  // The library is loaded with the first file: a start without one does not wait for it.
  const yaml = require('yaml') as typeof Yaml
  const lineCounter = new yaml.LineCounter()
  // The library would compare each key with each other one.
  const options = {
    lineCounter,
    prettyErrors: false,
    merge: true,
    uniqueKeys: false,
    resolveKnownTags: false,
  }
  const document = yaml.parseDocument(text, options)
  const end = text.trimEnd().length
  const locationOf = (offset: number): Location => {
    const { line, col } = lineCounter.linePos(Math.min(offset, end))
    return { line, column: col }
  }
  const { positions, duplicates, mistakes, size } = new Inspection(document, yaml)
  const errors = [...document.errors, ...mistakes]
  const problems = syntaxProblems(errors, locationOf)
  const isReadable = errors.every(({ code }) => readableCodes.has(code))
  const content = isReadable ? contentOf(document, size) : { value: undefined }
  return {
    value: content.value,
    problems: [...problems, ...(content.problem ? [{ path: '', message: content.problem }] : [])],
    duplicates: duplicates.map(({ path, offset }) => ({
      path,
      message: duplicateMessage,
      ...locationOf(offset),
    })),
    locate: (path) => {
      const offset = nearestPosition(positions, path)
      return offset === undefined ? undefined : locationOf(offset)
    },
  }
}

const duplicateMessage = 'is defined twice. Merge the two definitions.'

type SyntaxError = Pick<YAMLError, 'code' | 'pos'>

/** The code, and what is wrong. The messages of the library may contain a part of the text, which may be secret. */
const syntaxMessages: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'This alias (*) has no anchor (&) before it.',
  BAD_DQ_ESCAPE:
    'A backslash in double quotes must begin an escape sequence. Write \\\\, or use single quotes.',
  BAD_INDENT: 'The indentation is wrong, or a bracket, brace or quote before it is not closed.',
  BAD_SCALAR_START: 'A value cannot begin with this character. Put it in quotes.',
  BLOCK_AS_IMPLICIT_KEY: 'A second “: ” is in this line. Put the value in quotes, or begin a new line.',
  BLOCK_IN_FLOW: 'A bracket or brace before it is not closed.',
  MISSING_CHAR: 'A closing quote, a colon, a comma or the space after a colon is missing.',
  MULTILINE_IMPLICIT_KEY: 'The colon after the name of a setting is missing, or a quote is not closed.',
  MULTIPLE_DOCS: 'A second document begins here. Remove the line “---”.',
  NON_STRING_KEY: 'The name of a setting cannot be a list, a mapping or an alias.',
  RESOURCE_EXHAUSTION: 'The file is nested too deeply.',
  TAB_AS_INDENT: 'The indentation contains a tab. Use spaces.',
  UNEXPECTED_TOKEN: 'This is not expected here. The indentation, a quote or a bracket may be wrong.',
}

/** The rest of the file is understood in spite of these mistakes. */
const readableCodes: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START'])

function syntaxProblems(
  errors: readonly SyntaxError[],
  locationOf: (offset: number) => Location,
): SettingsProblem[] {
  const problems = new Map<number, SettingsProblem>()
  for (const { code, pos } of errors) {
    const location = locationOf(pos[0])
    const message = `${syntaxMessages[code] ?? 'This is not understood.'} This is not valid YAML.`
    if (!problems.has(location.line)) problems.set(location.line, { path: '', message, ...location })
    if (problems.size === maxProblems) break
  }
  return [...problems.values()]
}

function contentOf(document: Document, size: number): { readonly value: unknown; readonly problem?: string } {
  if (size > maxValues)
    return { value: undefined, problem: 'The aliases (*) of the file have too many values.' }
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) }
  } catch (error) {
    if (error instanceof RangeError) throw error
    return { value: undefined, problem: '“<<” must name a mapping. This is not valid YAML.' }
  }
}

/** Finds the positions and the mistakes of a document; it does not look behind an alias. */
class Inspection {
  /** The offset of each path. */
  readonly positions = new Map<string, number>()
  readonly duplicates: { readonly path: string; readonly offset: number }[] = []
  readonly mistakes: SyntaxError[] = []
  /** The number of values, those of an alias as often as it occurs. */
  readonly size: number
  readonly #anchorSizes = new Map<string, number>()
  readonly #yaml: typeof Yaml

  constructor({ contents }: Document.Parsed, yaml: typeof Yaml) {
    this.#yaml = yaml
    this.size = this.#visit(contents, '')
  }

  #visit(node: ParsedNode | null, path: string): number {
    if (node === null) return 1
    const { isAlias, isMap, isSeq } = this.#yaml
    if (isAlias(node)) return this.#anchorSizes.get(node.source) ?? this.#addMistake('BAD_ALIAS', node.range)
    const entries = isMap(node) ? this.#visitMap(node, path) : 0
    const items = isSeq(node)
      ? sum(node.items, (item, index) => this.#visitItem(item, problemPath(path, index)))
      : 0
    const size = 1 + entries + items
    if (node.anchor !== undefined) this.#anchorSizes.set(node.anchor, size)
    return size
  }

  #visitMap({ items }: Yaml.YAMLMap.Parsed, path: string): number {
    const paths = new Set<string>()
    return sum(items, ({ key, value }) => {
      if (!this.#yaml.isScalar(key)) return this.#addMistake('NON_STRING_KEY', key.range)
      const itemPath = problemPath(path, String(key.value))
      const [offset] = key.range
      if (paths.has(itemPath) && key.value !== '<<') this.duplicates.push({ path: itemPath, offset })
      paths.add(itemPath)
      this.positions.set(itemPath, offset)
      if (key.anchor !== undefined) this.#anchorSizes.set(key.anchor, 1)
      return this.#visit(value, itemPath)
    })
  }

  #visitItem(item: ParsedNode | Yaml.Pair<ParsedNode, ParsedNode | null>, path: string): number {
    // A mapping of one pair, without braces.
    if (!('range' in item)) return this.#visit(item.value, path)
    this.positions.set(path, item.range[0])
    return this.#visit(item, path)
  }

  #addMistake(code: ErrorCode, [start, end]: Yaml.Range): number {
    this.mistakes.push({ code, pos: [start, end] })
    return 1
  }
}

function sum<Item>(items: readonly Item[], sizeOf: (item: Item, index: number) => number): number {
  return items.reduce((size, item, index) => size + sizeOf(item, index), 0)
}

function nearestPosition(positions: ReadonlyMap<string, number>, path: string): number | undefined {
  let part = path
  while (part !== '') {
    const offset = positions.get(part)
    if (offset !== undefined) return offset
    part = part.slice(0, Math.max(0, part.lastIndexOf('.'), part.lastIndexOf('[')))
  }
  return undefined
}
