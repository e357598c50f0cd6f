import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Names stay as they are: Elysia learns from the source text of hooks what they read of a request, and in renamed
 * ones, of the bearer plugin for one, it reads wrong.
 */
export const minify = { whitespace: true, syntax: true, identifiers: false }

/**
 * Makes one executable of a program and all that it imports. Without a runtime it is for this machine; another
 * platform's runtime is fetched once by Bun, from the registry that packages come from.
 */
export async function compile(entry: string, file: string, runtime?: Bun.Build.CompileTarget): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const result = await Bun.build({
    entrypoints: [entry],
    target: 'bun',
    // Bytecode alone picks CommonJS, which knows no top-level await.
    format: 'esm',
    bytecode: true,
    minify,
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: {
      outfile: file,
      // The executable behaves the same in every folder: it reads its own settings and nothing that lies about.
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
