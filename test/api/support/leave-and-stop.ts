import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta } from '../../support/chat-answers.ts'
import { question, startScenario } from '../../support/scenario.ts'
import { hang, silence } from '../../support/script.ts'

// A program of its own: when it has stopped its gateway nothing may keep it from ending.
const begun = delta({ role: 'assistant', content: 'It is ' })
const scenario = await startScenario([silence, silence, chunks([begun], hang)])
const { app, acme } = scenario
for (const stream of [false, true]) {
  const leaving = new AbortController()
  const asked = app.chat({ ...question, stream }, { signal: leaving.signal }).catch(() => {})
  const request = await acme.request(stream ? 1 : 0)
  leaving.abort()
  await asked
  await request.left
}
const reader = readPieces(await app.chat({ ...question, stream: true }))
await reader.until('It is ')
await reader.leave()
await acme.requests[2]?.left
await scenario[Symbol.asyncDispose]()
process.stdout.write('stopped\n')
