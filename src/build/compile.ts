import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { embedPage } from './page.ts'

/**
 * Identifiers are not minified: Elysia parses the source of hooks to find out what they read of a request, and gets it
 * wrong for minified ones, such as those of the bearer plugin.
 */
export const minify = { whitespace: true, syntax: true, identifiers: false }

/**
 * Compiles a program and its imports to one executable, by default for this machine, and returns what is in it. Bun
 * downloads the runtime of another platform once, from the package registry.
 */
export async function compile(
  entry: string,
  file: string,
  runtime?: Bun.Build.CompileTarget,
): Promise<Bun.BuildMetafile> {
  await mkdir(dirname(file), { recursive: true })
  return build(entry, {
    bytecode: true,
    // A command loads only its own code. `serve` starts twice, see `raiseRequestLimit`: the first time costs next to nothing.
    splitting: true,
    compile: {
      outfile: file,
      // The executable must behave the same in every folder, whatever files are there.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      ...(runtime && { target: runtime }),
    },
  })
}

/** Bundles a program as its executable has it, without a runtime, and returns what is in it. */
export function bundle(entry: string): Promise<Bun.BuildMetafile> {
  return build(entry, {})
}

async function build(entry: string, options: Partial<Bun.BuildConfig>): Promise<Bun.BuildMetafile> {
  await using page = await embedPage()
  const result = await Bun.build({
    entrypoints: [entry],
    target: 'bun',
    // With bytecode alone Bun would pick CommonJS, which has no top-level await.
    format: 'esm',
    minify,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [page.plugin],
    metafile: true,
    throw: false,
    ...options,
  } as Bun.BuildConfig)
  if (!result.success) throw new Error(result.logs.map(String).join('\n'))
  if (result.metafile === undefined) throw new Error('The bundler did not report what is in the bundle.')
  return withOutputs(result.metafile, page.metafile)
}

/** Adds what is in the page, if the program has it. */
function withOutputs(program: Bun.BuildMetafile, page: Bun.BuildMetafile): Bun.BuildMetafile {
  const hasPage = Object.keys(program.inputs).some((path) =>
    /[\\/]api[\\/]page[\\/]page-files\.ts$/.test(path),
  )
  if (!hasPage) return program
  const pageOutputs = Object.entries(page.outputs).map(([path, output]) => [`page/${path}`, output])
  return { ...program, outputs: { ...program.outputs, ...Object.fromEntries(pageOutputs) } }
}
