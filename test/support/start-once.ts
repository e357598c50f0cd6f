import { afterAll } from 'bun:test'

/**
 * Returns a function that starts something once, for the tests of a file, or of a `describe`, that leave it as they find it.
 * It ends after the last of them.
 */
export function startOnce<Started extends AsyncDisposable>(
  start: () => Promise<Started>,
): () => Promise<Started> {
  let started: Promise<Started> | undefined
  afterAll(async () => await (await started)?.[Symbol.asyncDispose]())
  return () => (started ??= start())
}
