import type { Command } from '../command.ts'
import { UsageError } from '../errors.ts'
import { interpretStart } from '../serve/jit-policy.ts'

/** The command with which `weir serve --workers` starts its workers; no help mentions it. */
export const serveWorker: Command = {
  usage: 'This command is started by weir serve --workers.',
  async run(_, context) {
    const send = process.send?.bind(process)
    if (send === undefined) throw new UsageError('A worker is started by weir serve --workers.')
    interpretStart()
    const { runWorker } = await import('../serve/workers/worker.ts')
    await runWorker(send, context)
    return 0
  },
}
