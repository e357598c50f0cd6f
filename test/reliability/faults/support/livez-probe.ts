// A client in its own process, which repeats the cheapest request to the gateway at this address,
// and writes how many milliseconds it waited.
import { setTimeout as pause } from 'node:timers/promises'

const [, , url = ''] = process.argv

for (;;) {
  const startedAt = performance.now()
  const replied = await fetch(`${url}/livez`).then(
    (reply) => reply.text(),
    () => undefined,
  )
  if (replied !== undefined) process.stdout.write(`${Math.round(performance.now() - startedAt)}\n`)
  await pause(20)
}
