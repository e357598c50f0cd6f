import { resolve } from 'node:path'

/** Returns the folders of the npm packages whose code is in the bundle, sorted. */
export function bundledPackages(metafile: Bun.BuildMetafile, cwd = process.cwd()): string[] {
  const folders = new Set<string>()
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const folder = bytesInOutput > 0 ? packageFolder(path) : undefined
      if (folder !== undefined) folders.add(resolve(cwd, folder))
    }
  }
  return [...folders].toSorted()
}

/** Returns the folder of the package that a file belongs to; undefined for a file of the project. */
export function packageFolder(path: string): string | undefined {
  // Greedy: a package may have packages of its own.
  return /^.*(?:^|[\\/])node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0]
}
