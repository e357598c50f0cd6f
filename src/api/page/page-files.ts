import { lazy } from '../../lib/lazy.ts'
import { bundlePage } from './bundle.ts'
import type { PageFile } from './page-file.ts'

/**
 * Returns the files of the page. This module is for a gateway that runs from source, and bundles the page at the first
 * request; the build replaces it with one that refers to files in the executable (see `build/compile.ts`).
 */
export const pageFiles: () => Promise<readonly PageFile[]> = lazy(async () => {
  const { files } = await bundlePage()
  return files.map(({ content, ...file }) => ({ ...file, encodings: { identity: new Blob([content]) } }))
})
