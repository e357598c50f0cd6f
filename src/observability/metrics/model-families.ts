import { durationBounds, firstTokenBounds, overheadBounds, tokenBounds, tokenPaceBounds } from './bounds.ts'
import { createCounters } from './counter.ts'
import { createHistograms } from './histogram.ts'

/** What is counted of calls to models, by the names that OpenTelemetry has for it, and a few of our own. */
export function createModelFamilies() {
  return {
    durations: createHistograms(
      named('server_request_duration_seconds', 'From a request to the end of its reply.', 'error_type'),
      durationBounds,
    ),
    firstTokens: createHistograms(
      named('server_time_to_first_token_seconds', 'From a request to the first token of its stream.'),
      firstTokenBounds,
    ),
    paces: createHistograms(
      named('server_time_per_output_token_seconds', 'For each token of a stream after the first.'),
      tokenPaceBounds,
    ),
    // Here the model goes by the name that its provider has for it.
    tries: createHistograms(
      named('client_operation_duration_seconds', 'Of one try of a provider.', 'error_type'),
      durationBounds,
    ),
    tokens: createHistograms(
      named('client_token_usage', 'Tokens of a call.', 'gen_ai_token_type'),
      tokenBounds,
    ),
    overhead: createHistograms(
      {
        name: 'weir_gateway_overhead_seconds',
        help: 'What the gateway took itself until the reply to a call began.',
        labels: ['path'],
      },
      overheadBounds,
    ),
    cost: createCounters({ name: 'weir_cost_usd_total', help: 'Cost of calls in USD.', labels: ['model'] }),
  }
}

const common = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model']

function named(name: string, help: string, ...labels: readonly string[]) {
  return { name: `gen_ai_${name}`, help, labels: [...common, ...labels] }
}
