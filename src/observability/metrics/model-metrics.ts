import type { Outcome } from '../../domain/accounting/outcome.ts'
import { providerName } from '../../providers/kinds/kinds.ts'
import { type Attempt, circuitOpen, type RequestRecord } from '../request-record.ts'
import { createModelFamilies } from './model-families.ts'

/** What is counted of calls to models, most of it by the names that OpenTelemetry has for it. */
export type ModelMetrics = {
  add(record: RequestRecord, outcome: Outcome): void
  render(): string
}

export function createModelMetrics(): ModelMetrics {
  const families = createModelFamilies()
  const { durations, firstTokens, paces, tokens, tries, overhead, cost } = families

  function add(record: RequestRecord, outcome: Outcome): void {
    const seconds = record.total / 1000
    const provider = providerName(record.kind() ?? '')
    // A model that nobody knows has no name here: callers may write anything.
    const model = record.facts?.model ?? ''
    durations.at('chat', provider, model, outcome.error ?? '').observe(seconds)
    for (const attempt of record.attempts) addTry(attempt)
    if (record.reply) overhead.at(record.reply.path ?? '').observe(record.own / 1000)
    if (outcome.cost !== undefined) cost.at(model).value += Number(outcome.cost) / 1e9
    const { usage } = outcome
    if (usage === undefined) return
    tokens.at('chat', provider, model, 'input').observe(usage.promptTokens)
    tokens.at('chat', provider, model, 'output').observe(usage.completionTokens)
    const first = record.firstToken()
    if (first === undefined || outcome.error !== undefined) return
    firstTokens.at('chat', provider, model).observe(first / 1000)
    const later = usage.completionTokens - 1
    if (later > 0) paces.at('chat', provider, model).observe((record.total - first) / 1000 / later)
  }

  function addTry({ route, outcome, milliseconds }: Attempt): void {
    if (outcome === circuitOpen) return
    const failure = outcome === undefined || outcome === 'ok' ? '' : outcome
    tries
      .at('chat', providerName(route.provider.kind.name), route.model, failure)
      .observe(milliseconds / 1000)
  }

  const all = Object.values(families)
  return { add, render: () => all.map((family) => family.render()).join('') }
}
