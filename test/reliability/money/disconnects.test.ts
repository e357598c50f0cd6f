import { expect, test } from 'bun:test'
import { cancelRun, queueRunRequest } from '../../support/background.ts'
import { responsesPath } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { randomFrom } from '../../unit/providers/protocols/support/random.ts'
import { type CountedPlan, type CountingProvider, countingProvider } from './support/counting-provider.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { piecesOf, textsOf, tokensIn } from './support/texts.ts'
import { testSeed } from '../../support/seed.ts'

const lanes = 4
const rounds = 30

/** In nano-dollars, those of `pricing`. */
const inputPrice = 1000
const outputPrice = 10_000

/** A model that reasons. */
const models = [
  { slug: 'acme/mind', reasoning: { supported_efforts: [] }, pricing: { input: 1, output: 10 } },
].map((model) => ({ ...model, max_output_tokens: 5000, routes: [{ provider: 'acme', model: 'mind' }] }))

/** One way to take a part of an answer and leave. */
type Strategy = {
  readonly name: string
  readonly plan: Partial<CountedPlan>
  /** The model is known to reason. */
  readonly reasons?: boolean
  readonly whole?: boolean
  readonly background?: boolean
}

const thinking = { pieces: [], pace: 90 }
const strategies: readonly Strategy[] = [
  { name: 'before the headers', plan: { accepts: false, pace: 0 } },
  { name: 'before the headers, while it reasons', plan: { accepts: false, pace: 90 }, reasons: true },
  { name: 'before the first word', plan: thinking },
  { name: 'in the middle of hidden reasoning', plan: thinking, reasons: true },
  { name: 'after some words', plan: {} },
  {
    name: 'behind the last word behind hidden reasoning',
    plan: { pace: 2000, behind: 'end', usageAfter: 120 },
    reasons: true,
  },
  { name: 'after some words behind a silence', plan: { pace: 90 } },
  { name: 'in the middle of reasoning behind words', plan: { behind: 'thought', pace: 90 }, reasons: true },
  { name: 'behind the last word, before the usage', plan: { behind: 'end', usageAfter: 120 } },
  { name: 'a whole answer', plan: { accepts: false, pace: 90 }, whole: true },
  { name: 'a run before its first word', plan: thinking, background: true },
  { name: 'a run after some words', plan: {}, background: true },
  { name: 'a run behind its last word', plan: { behind: 'end', usageAfter: 120 }, background: true },
]

test('a disconnected client is charged at least 95 % of what the provider counted, and never more than was reserved', async () => {
  // The seed repeats what is asked and answered; when each leaves is up to the machine.
  const random = randomFrom(testSeed)
  const charges: number[] = []
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      await using paid = await startBillingScenario([], {
        model: { max_output_tokens: 5000 },
        models,
        balance: '100',
      })
      for (let round = 0; round < rounds; round++) {
        const strategy = strategies[(lane + round) % strategies.length]!
        charges.push(await leaveOnce(paid, strategy, random))
      }
      await paid.billing.expectConsistent()
    }),
  )
  const mean = charges.reduce((sum, charge) => sum + charge, 0) / charges.length
  console.log(JSON.stringify({ lowest: Math.min(...charges), mean, highest: Math.max(...charges) }))
}, 120_000)

test('a client that disconnects from a fast model in the middle of its hidden reasoning is charged by the speed of earlier answers', async () => {
  const random = randomFrom('fast')
  await using paid = await startBillingScenario([], { models, balance: '100' })
  const fast = { pace: 1000, silence: 1000, pieces: ['Four.'], behind: 'end', usageAfter: 0 } as const
  const received = () => hasRead(paid)
  const provider = countingProvider({ ...fast, promptTokens: 20, accepts: true, received })
  paid.acme.respondWith(provider.script)
  const messages = [{ role: 'user', content: 'How high is it?' }]
  await (await paid.app.chat({ model: 'acme/mind', messages, stream: true })).text()
  expect(await provider.counted).toBeGreaterThan(900)
  // Less than the speed of the first answer, of which the gateway sees less on a slow machine, and more than it assumes.
  const leaving = {
    name: 'in the middle of hidden reasoning',
    plan: { pieces: [], pace: 400 },
    reasons: true,
  }
  for (let round = 0; round < 5; round++) await leaveOnce(paid, leaving, random)
  await paid.billing.expectConsistent()
})

/** Gives what was charged as a multiple of what the provider counted. */
async function leaveOnce(paid: BillingScenario, strategy: Strategy, random: () => number): Promise<number> {
  const texts = Object.values(textsOf(random, 200 + Math.floor(random() * 400)))
  const pick = () => texts[Math.floor(random() * texts.length)]!
  const prompt = pick()
  const plan: CountedPlan = {
    promptTokens: tokensIn(prompt) + 7,
    accepts: true,
    pace: 0,
    silence: random() * 100,
    pieces: piecesOf(pick(), 1 + Math.floor(random() * 8)).slice(0, 5 + random() * 60),
    behind: 'nothing',
    usageAfter: 0,
    received: () => hasRead(paid),
    ...strategy.plan,
  }
  const provider = countingProvider(plan)
  paid.acme.respondWith(provider.script)
  const before = (await paid.billing.usage()).length
  const { reserved, tokens } = await askAndLeave(paid, strategy, plan, prompt, random, provider)
  await provider.counted
  // Up to the moment at which the client left: how long a busy machine takes to close the connection is not its concern.
  const counted = plan.promptTokens * inputPrice + tokens * outputPrice
  // The usage of an answer behind hidden reasoning is awaited for five seconds.
  const rows = await paid.billing.waitForUsage(before + 1)
  const cost = rows.at(-1)?.cost ?? 0
  const received = { strategy: strategy.name, counted, cost, reserved, prompt, answer: plan.pieces.join('') }
  expect(cost >= 0.95 * counted, JSON.stringify(received)).toBe(true)
  expect(cost <= reserved, JSON.stringify(received)).toBe(true)
  return cost / counted
}

/** Resolves when the gateway has read what was sent to it before: it reads these requests later. */
async function hasRead({ app }: BillingScenario): Promise<void> {
  for (let round = 0; round < 5; round++) await app.request('/livez')
}

/** Asks and leaves where the strategy says; gives what was reserved, and the tokens that were generated until then. */
async function askAndLeave(
  paid: BillingScenario,
  { reasons, whole: complete, background }: Strategy,
  plan: CountedPlan,
  prompt: string,
  random: () => number,
  provider: CountingProvider,
): Promise<{ readonly reserved: number; readonly tokens: number }> {
  const { app, acme, billing } = paid
  const requested = acme.requests.length
  const model = reasons ? 'acme/mind' : chatRequest.model
  const aborting = new AbortController()
  let id = ''
  let reply: Promise<Response> | undefined
  if (background) ({ id } = await queueRunRequest(app, { model, input: prompt }))
  else {
    const body = { model, messages: [{ role: 'user', content: prompt }], stream: !complete }
    reply = app.chat(body, { signal: aborting.signal })
    reply.catch(() => {})
  }
  await acme.request(requested)
  await provider.started
  const reserved = (await billing.account())[1]
  if (plan.accepts && plan.pieces.length > 0) {
    const stream = background
      ? app.request(`${responsesPath}/${id}?stream=true`, { signal: aborting.signal })
      : reply!
    await readText(await stream, plan.pieces.join('').length)
  }
  // When somebody leaves is the strategy itself.
  await Bun.sleep(random() * (plan.behind === 'end' ? 40 : 150))
  const tokens = provider.tokens()
  if (background) await cancelRun(app, id)
  aborting.abort()
  return { reserved, tokens }
}

/** Reads until so much of the text has come. */
async function readText(reply: Response, length: number): Promise<void> {
  const frames = reply.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let text = ''
  while (textIn(text) < length) {
    const { value, done } = await frames.next()
    if (done) throw new Error(`It has ended: ${text.slice(-300)}`)
    text += value
  }
}

/** How many characters of text the whole frames among these say. */
function textIn(frames: string): number {
  const output = frames.split('\n\n').slice(0, -1).map(deltaOf)
  return output.reduce((sum, delta) => sum + delta.length, 0)
}

function deltaOf(frame: string): string {
  const data = /^data: (\{.*)$/m.exec(frame)?.[1]
  const { delta, choices } = JSON.parse(data ?? '{}')
  return typeof delta === 'string' ? delta : (choices?.[0]?.delta?.content ?? '')
}
