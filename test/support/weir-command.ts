import { join, resolve } from 'node:path'
import { projectFolder } from './source.ts'

const executable = process.env.WEIR_TEST_PROGRAM

/** The executable that the gate has built for its run; undefined if a test runs without the gate. */
export const builtExecutable = executable ? resolve(executable) : undefined

/** The words that start the command line: that executable, which starts in a tenth of the processor time, or the source. */
export const weirCommand: readonly string[] = builtExecutable
  ? [builtExecutable]
  : [process.execPath, join(projectFolder, 'src/main.ts')]
