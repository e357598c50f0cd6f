import type { SettingsFile } from '../../../src/config/settings.ts'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { openBillingDatabase } from '../../support/billing-database.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { newDatabase } from '../../support/database-connection.ts'
import { type App, startApp } from '../../support/app.ts'
import { firstChunks, lastChunks } from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { providerKey } from '../../support/scenario.ts'
import { hang, json, type Script, silence } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'

/** How many runs are under way at once. */
export const concurrency = 3

/** What should be known of a run. */
export type ModelRun = {
  readonly id: string
  readonly request: string
  /** As it was seen last. */
  last: ResponseObject
  deleted: boolean
  /** How many deletions are under way. */
  deleting: number
}

/** A gateway with prepaid billing, which can be restarted on the same database, in front of a random provider. */
export async function backgroundScenario(random: () => number) {
  const database = await newDatabase()
  const gates: (() => void)[] = []
  const upstream = await createUpstream(randomProvider(random, gates))
  const settings: SettingsFile = {
    retries: { attempts: 0 },
    breaker: { failures: 1_000_000, cooldown: '1s' },
    background: { concurrency },
    providers: { acme: { kind: 'openai-compatible', api_key: providerKey, base_url: upstream.url } },
    models: [
      {
        slug: 'acme/river',
        pricing,
        max_output_tokens: 100,
        routes: [{ provider: 'acme', model: 'river-1' }],
      },
    ],
  }
  const start = () => startApp({ settings, database: database.location })
  let app: App = await start()
  const billing = await openBillingDatabase(database.location)
  await billing.fund('default', '100')
  return {
    app: () => app,
    books: billing,
    upstream,
    /** Releases one of the paused responses. */
    release: () => gates.splice(Math.floor(random() * gates.length), 1)[0]?.(),
    async restart() {
      await app.stop()
      app = await start()
    },
    /** Releases the paused responses, and pauses no further ones. */
    calm() {
      upstream.respondWith(streamReply())
      for (const open of gates.splice(0)) open()
    },
    async [Symbol.asyncDispose]() {
      await billing[Symbol.asyncDispose]()
      await app.stop()
      await upstream[Symbol.asyncDispose]()
      await database.delete()
    },
  }
}

function randomProvider(random: () => number, gates: (() => void)[]): Script {
  return { play: (socket, closed) => answerOf(random, gates).play(socket, closed) }
}

function answerOf(random: () => number, gates: (() => void)[]): Script {
  const gate = Promise.withResolvers<void>()
  const draw = random()
  if (draw < 0.3) return streamReply()
  if (draw < 0.4) return json({ error: { message: 'Down.' } }, { status: 503 })
  if (draw < 0.45) return silence
  gates.push(gate.resolve)
  return draw < 0.9
    ? chunks([...firstChunks, gate.promise, ...lastChunks])
    : chunks([...firstChunks, gate.promise], hang)
}
