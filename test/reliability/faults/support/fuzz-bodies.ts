import { fuzzModels } from './fuzz-provider.ts'
import {
  chatBodies,
  notJson,
  responseBodies,
  strangeNames,
  strangeNumbers,
  strangeStrings,
  updates,
} from './fuzz-samples.ts'

/** Draws of one seed. */
export type Random = () => number

/** One of the list. */
export function pick<Item>(draw: Random, list: readonly Item[]): Item {
  return list[Math.floor(draw() * list.length)]!
}

/** A body of JSON that was once valid, as text that may be none any more. */
export function randomBody(draw: Random, path: string): string {
  if (draw() < 0.03) return pick(draw, notJson)
  const valid = structuredClone(pick(draw, bodiesFor(path)))
  if ('model' in valid && draw() < 0.5) valid.model = pick(draw, fuzzModels)
  const holder: Tree = { body: valid as Tree }
  const changes = draw() < 0.15 ? 0 : 1 + Math.floor(draw() ** 2 * 5)
  for (let change = 0; change < changes; change++) mutate(draw, holder)
  const text = JSON.stringify(holder.body) ?? ''
  return draw() < 0.25 ? pick(draw, textChanges)(text, draw) : text
}

type Tree = { [name: string]: Tree } | Tree[] | string | number | boolean | null

function bodiesFor(path: string): readonly object[] {
  if (path.startsWith('/v1/responses')) return responseBodies
  return path.includes('chatcmpl') ? updates : chatBodies
}

function randomValue(draw: Random, depth = 0): Tree {
  const kind = draw()
  if (kind < 0.15) return pick(draw, [null, true, false])
  if (kind < 0.4) return pick(draw, strangeNumbers)
  if (kind < 0.7 || depth > 3) return pick(draw, strangeStrings)
  const size = Math.floor(draw() * 4)
  const values = Array.from({ length: size }, () => randomValue(draw, depth + 1))
  if (kind < 0.85) return values
  return Object.fromEntries(values.map((value) => [pick(draw, strangeNames), value]))
}

/** Changes one place of the tree: takes it away, puts something else there, repeats it, or wraps it up. */
function mutate(draw: Random, root: Tree): void {
  const [parent, name] = descend(draw, root)
  const at = parent as Record<string, Tree>
  const kind = draw()
  if (kind < 0.2) delete at[name]
  else if (kind < 0.6) define(at, name, randomValue(draw))
  else if (kind < 0.75) define(at, pick(draw, strangeNames), randomValue(draw))
  else if (kind < 0.9)
    define(at, name, nested(at[name] ?? null, Math.floor(draw() ** 4 * 2000), draw() < 0.5))
  else define(at, name, repeated(at[name] ?? null, Math.floor(draw() ** 3 * 500)))
}

/** In characters; a body may exceed the limit of the gateway, but must fit in the memory of this process. */
const maxList = 1_000_000

function repeated(value: Tree, count: number): Tree {
  const max = maxList / (JSON.stringify(value).length + 1)
  return Array.from({ length: Math.min(count, max) }, () => value)
}

/** A list has no names but numbers in JSON, and `__proto__` must become a property like any other. */
function define(at: Record<string, Tree>, name: string, value: Tree): void {
  if (Array.isArray(at) && !/^\d+$/.test(name)) at.push(value)
  else Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true })
}

function descend(draw: Random, root: Tree): [Tree, string] {
  let parent = root as Record<string, Tree>
  let name = 'body'
  for (;;) {
    const child = parent[name]
    if (typeof child !== 'object' || child === null || (name !== 'body' && draw() < 0.35))
      return [parent, name]
    const names = Object.keys(child)
    if (names.length === 0) return [parent, name]
    parent = child as Record<string, Tree>
    name = pick(draw, names)
  }
}

function nested(value: Tree, depth: number, inList: boolean): Tree {
  let tree = value
  for (let level = 0; level < depth; level++) tree = inList ? [tree] : { a: tree }
  return tree
}

/** What JSON.stringify would never write. */
const textChanges: readonly ((text: string, draw: Random) => string)[] = [
  (text, draw) => text.slice(0, draw() * text.length),
  (text, draw) =>
    insert(
      text,
      draw,
      pick(draw, ['"', '{', ']', ',', '\\', '\0', '\ufeff', '\ufffd', '1e999', '\\ud800', '\\u0000', '//']),
    ),
  (text) => text.replace('"model":', '"model":null,"model":'),
  (text) => text.replace('{', '{"__proto__":{"stream":true},'),
  (text) => text.replace('{', '{"stream":true,"stream":false,'),
  (text) => text.replaceAll(/\d+/g, '1e999'),
  (text) => text.replaceAll(/\d+/g, (number) => `${number}00000000000000000000`),
  (text) => text.replaceAll(':"', ':"\\ud83d'),
  (text) => `${' '.repeat(10_000)}${text}\n\t`,
  (text) => text + text,
]

function insert(text: string, draw: Random, added: string): string {
  const place = Math.floor(draw() * text.length)
  return text.slice(0, place) + added + text.slice(place)
}
