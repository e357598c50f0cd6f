import { join, resolve } from 'node:path'
import { projectFolder } from './source.ts'

const executable = process.env.WEIR_TEST_PROGRAM

/**
 * The words that start the command line: the executable that the gate has built for its run, which starts in a tenth of
 * the processor time, or else the source.
 */
export const weirCommand: readonly string[] = executable
  ? [resolve(executable)]
  : [process.execPath, join(projectFolder, 'src/main.ts')]
