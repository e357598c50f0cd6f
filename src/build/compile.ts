import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Identifiers are not minified: Elysia parses the source of hooks to find out what they read of a request, and gets it
 * wrong for minified ones, such as those of the bearer plugin.
 */
export const minify = { whitespace: true, syntax: true, identifiers: false }

/**
 * Compiles a program and its imports to one executable, by default for this machine. Bun downloads the runtime of
 * another platform once, from the package registry.
 */
export async function compile(entry: string, file: string, runtime?: Bun.Build.CompileTarget): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const result = await Bun.build({
    entrypoints: [entry],
    target: 'bun',
    // With bytecode alone Bun would pick CommonJS, which has no top-level await.
    format: 'esm',
    bytecode: true,
    minify,
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: {
      outfile: file,
      // The executable must behave the same in every folder, whatever files are there.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      ...(runtime && { target: runtime }),
    },
    throw: false,
  })
  if (!result.success) throw new Error(result.logs.map(String).join('\n'))
}
