import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compile } from './compile.ts'
import { bareEnvironment, freePort, startServer } from './installation.ts'

/**
 * Records which functions a start of this program needs, in an empty folder, and returns the file. An executable that is
 * built with it, for any platform, has them side by side: it reads fewer pages. Undefined on Windows, where a server cannot
 * be stopped in a way that it notices.
 */
export async function recordBytecodeOrder(program: string, folder: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const executable = join(folder, 'weir')
  await compile(program, executable)
  const [order, emptyFolder] = [join(folder, 'order.txt'), join(folder, 'empty')]
  await mkdir(emptyFolder)
  const environment = {
    ...bareEnvironment(folder),
    WEIR_DATA: join(folder, 'data'),
    BUN_BYTECODE_ORDER_OUT: order,
  }
  await using server = await startServer({ executable, folder: emptyFolder, environment }, await freePort())
  await server.stop()
  return order
}
