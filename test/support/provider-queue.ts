import type { Requester } from './app.ts'
import { waitUntil } from './billing-database.ts'
import type { Script } from './script.ts'

/** Resolves when so many requests wait for the provider. */
export function waitForQueue(app: Requester, waiting: number, provider = 'acme'): Promise<void> {
  const line = `weir_provider_queue_length{provider="${provider}"} ${waiting}\n`
  const claim = async () => (await (await app.request('/metrics')).text()).includes(line)
  return waitUntil(claim, `${waiting} requests wait for ${provider}`)
}

/** Plays the script once the promise is resolved. */
export function after(gate: Promise<unknown>, script: Script): Script {
  return {
    async play(socket, closed) {
      await Promise.race([gate, closed])
      return script.play(socket, closed)
    },
  }
}
