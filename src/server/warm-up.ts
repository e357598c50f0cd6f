import { chatPath } from '../api/chat-completions/routes.ts'
import { chatRequest } from '../api/chat-completions/schema.ts'
import { nextTurn } from '../lib/time.ts'
import type { KeyDirectory } from '../storage/ports/known-keys.ts'

/** A route whose handler is compiled at its first request, or before. */
export type LazyRoute = { readonly method: string; readonly path: string; compile(): unknown }

/**
 * Does what the first request would wait 20 to 30 ms for: compiles the route and the schema of chat completions, and the
 * statement that finds a key. What other APIs need beyond that takes little time once this has been done.
 */
export async function warmUp(routes: readonly LazyRoute[], keys: KeyDirectory): Promise<void> {
  const route = routes.find(({ method, path }) => method === 'POST' && path === chatPath)
  const steps = [() => route?.compile(), chatRequest.compile, () => keys.find('')]
  for (const step of steps) {
    // A request that has arrived does not wait for all of them.
    await nextTurn()
    await step()
  }
}
