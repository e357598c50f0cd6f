import { join, posix, resolve } from 'node:path'

/** The root of the checkout. */
export const projectFolder = resolve(import.meta.dir, '../..')

/** A file of the project: its path from the root, with `/` everywhere, and its text. */
export type SourceFile = { readonly path: string; readonly text: string }

/** Every TypeScript file, also those with JSX, under a folder of the project. */
export async function sourceFiles(folder: string): Promise<SourceFile[]> {
  const paths = await Array.fromAsync(new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scan({ cwd: projectFolder }))
  const read = paths.toSorted().map(async (path) => ({
    path: path.replaceAll('\\', '/'),
    text: await Bun.file(join(projectFolder, path)).text(),
  }))
  return Promise.all(read)
}

const scanners = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
/** The transpiler omits type-only imports. */
const fromClause = /^(?:import|export)\b[^'"`;()]*?\bfrom '([^']+)'/gm

/** What a file imports, types too, as it is written there. */
export function importsOf({ path, text }: SourceFile): string[] {
  const scanner = scanners[path.endsWith('.tsx') ? 'tsx' : 'ts']
  const written = [...text.matchAll(fromClause)].map((match) => match[1] ?? '')
  return [...new Set([...written, ...scanner.scanImports(text).map(({ path }) => path)])]
}

/** The path from the root that a relative import names; null for a package. */
export function resolveImport(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null
  return posix.normalize(posix.join(posix.dirname(file.path), specifier))
}
