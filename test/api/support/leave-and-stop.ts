import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { hang, silence } from '../../support/script.ts'

// A separate program: when it has stopped its gateway, nothing may keep it from exiting.
const opening = delta({ role: 'assistant', content: 'It is ' })
const scenario = await startScenario([silence, silence, chunks([opening], hang)])
const { app, acme } = scenario
for (const stream of [false, true]) {
  const aborting = new AbortController()
  const requested = app.chat({ ...chatRequest, stream }, { signal: aborting.signal }).catch(() => {})
  const request = await acme.request(stream ? 1 : 0)
  aborting.abort()
  await requested
  await request.aborted
}
const reader = readPieces(await app.chat({ ...chatRequest, stream: true }))
await reader.until('It is ')
await reader.leave()
await acme.requests[2]?.aborted
await scenario[Symbol.asyncDispose]()
process.stdout.write('stopped\n')
