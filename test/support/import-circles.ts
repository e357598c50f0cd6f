import { importsOf, resolveImport, type SourceFile } from './source.ts'

type Graph = ReadonlyMap<string, readonly string[]>

/** Returns every group of files that import each other, directly or through others. Type imports count. */
export function importCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const paths = new Set(files.map(({ path }) => path))
  const imports = new Map(
    files.map((file) => [file.path, localImports(file).filter((path) => paths.has(path))]),
  )
  const importers = reversed(imports)
  const circles: string[][] = []
  const visited = new Set<string>()
  for (const path of imports.keys()) {
    if (visited.has(path)) continue
    // The files that this one reaches and that reach it.
    const importing = reachableFrom(path, importers)
    const circle = [...reachableFrom(path, imports)].filter((other) => importing.has(other))
    for (const member of circle) visited.add(member)
    if (circle.length > 0) circles.push(circle.toSorted())
  }
  return circles
}

function localImports(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap((specifier) => resolveImport(file, specifier) ?? [])
}

function reversed(graph: Graph): Graph {
  const result = new Map<string, string[]>([...graph.keys()].map((path) => [path, []]))
  for (const [from, targets] of graph) for (const to of targets) result.get(to)?.push(from)
  return result
}

/** Returns the files that can be reached in one or more steps: the start only if it is in a circle. */
function reachableFrom(start: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>()
  const pending = [...(graph.get(start) ?? [])]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    pending.push(...(graph.get(path) ?? []))
  }
  return reached
}
