import { join } from 'node:path'
import { projectFolder } from '../install.ts'

const files: Readonly<Record<string, string>> = {
  'Apache-2.0': 'LICENSE',
  MIT: standardFile('MIT'),
  'BSD-2-Clause': standardFile('BSD-2-Clause'),
  'BSD-3-Clause': standardFile('BSD-3-Clause'),
  Zlib: standardFile('Zlib'),
  'LGPL-2.0-or-later': standardFile('LGPL-2.0'),
  'LGPL-2.1-only': standardFile('LGPL-2.1'),
}

/** Returns the text of an SPDX licence without the names of authors, or undefined if it is not on file. */
export async function standardText(license: string): Promise<string | undefined> {
  const file = Object.hasOwn(files, license) ? files[license] : undefined
  if (file === undefined) return undefined
  const text = await Bun.file(join(projectFolder, file)).text()
  // The appendix of the Apache licence names the authors of Weir.
  return text.split(/^ +APPENDIX:/m)[0]?.trimEnd()
}

function standardFile(name: string): string {
  return `src/build/licenses/standard-texts/${name}.txt`
}
