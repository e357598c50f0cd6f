/**
 * Runs the task now and then until it is stopped; a run that takes longer than the interval is not doubled. Keeps no
 * process alive that has nothing else to do.
 */
export function repeatEvery(
  milliseconds: number,
  task: () => Promise<unknown>,
  failed: (error: unknown) => void,
): { stop(): void } {
  let stopped = false
  let timer = setTimeout(run, milliseconds).unref()

  async function run(): Promise<void> {
    await task().catch(failed)
    if (!stopped) timer = setTimeout(run, milliseconds).unref()
  }

  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
