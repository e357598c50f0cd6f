import type * as Yaml from 'yaml'
import type { Document, ErrorCode, ParsedNode, YAMLError } from 'yaml'
import { problemPath, type SettingsProblem } from './problem.ts'

/** The position of a setting in its file; both begin at 1. */
export type Location = { readonly line: number; readonly column: number }

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
const maxAliases = 2000
/** The most values that aliases may multiply a file to. */
const maxValues = 1_000_000

/** Parses a YAML text of at most `maxYamlBytes`. Never throws. */
export function parseYaml(text: string): ParsedYaml {
  // The library is loaded with the first file: a start without one does not wait for it.
  const { LineCounter, parseDocument } = require('yaml') as typeof Yaml
  const lineCounter = new LineCounter()
  // The library would compare each key with each other one.
  const options = {
    lineCounter,
    prettyErrors: false,
    merge: true,
    uniqueKeys: false,
    resolveKnownTags: false,
  }
  const document = parseDocument(text, options)
  const end = text.trimEnd().length
  const locationOf = (offset: number): Location => {
    const { line, col } = lineCounter.linePos(Math.min(offset, end))
    return { line, column: col }
  }
  const { positions, duplicates, unresolved } = inspect(document)
  const errors = [...document.errors, ...unresolved]
  const problems = syntaxProblems(errors, locationOf)
  const isReadable = errors.every(({ code }) => readableCodes.has(code))
  const content = isReadable ? contentOf(document) : { value: undefined }
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

function contentOf(document: Document): { readonly value: unknown; readonly problem?: string } {
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    if (countValues(value, 0) <= maxValues) return { value }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Merge sources'))
      return { value: undefined, problem: '“<<” must name a mapping. This is not valid YAML.' }
  }
  return { value: undefined, problem: 'The aliases (*) of the file have too many values.' }
}

/** Counts the values as often as they occur; stops above `maxValues`. */
function countValues(value: unknown, start: number): number {
  let count = start + 1
  if (typeof value !== 'object' || value === null) return count
  for (const item of Object.values(value)) {
    if (count > maxValues) return count
    count = countValues(item, count)
  }
  return count
}

type Inspection = {
  /** The offset of each path. */
  readonly positions: ReadonlyMap<string, number>
  readonly duplicates: readonly { readonly path: string; readonly offset: number }[]
  readonly unresolved: readonly SyntaxError[]
}

/** Finds the positions of all settings, without those behind an alias. */
function inspect({ contents }: Document.Parsed): Inspection {
  const { isAlias, isMap, isScalar, isSeq } = require('yaml') as typeof Yaml
  const positions = new Map<string, number>()
  const duplicates: { path: string; offset: number }[] = []
  const unresolved: SyntaxError[] = []
  const anchors = new Set<string>()
  const visitMap = (pairs: readonly { key: ParsedNode; value: ParsedNode | null }[], path: string) => {
    const names = new Set<string>()
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : String(key)
      const itemPath = problemPath(path, name)
      const offset = key.range[0]
      if (names.has(name) && name !== '<<') duplicates.push({ path: itemPath, offset })
      names.add(name)
      positions.set(itemPath, offset)
      visit(value, itemPath)
    }
  }
  const visit = (node: ParsedNode | null, path: string) => {
    if (node === null) return
    if (isAlias(node)) {
      if (!anchors.has(node.source))
        unresolved.push({ code: 'BAD_ALIAS', pos: [node.range[0], node.range[1]] })
      return
    }
    if (node.anchor !== undefined) anchors.add(node.anchor)
    if (isMap(node)) visitMap(node.items, path)
    if (!isSeq(node)) return
    for (const [index, item] of node.items.entries()) {
      const itemPath = problemPath(path, index)
      if ('range' in item) positions.set(itemPath, item.range[0])
      visit('range' in item ? item : null, itemPath)
    }
  }
  visit(contents, '')
  return { positions, duplicates, unresolved }
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
