import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Environment } from './tracing.ts'

/** Which traces are kept, by `OTEL_TRACES_SAMPLER`: unless it says otherwise all but those that the caller has not kept. */
export function samplerOf(environment: Environment): Sampler {
  const name = environment.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on'
  const root = rootOf(name.replace(/^parentbased_/, ''), environment.OTEL_TRACES_SAMPLER_ARG)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function rootOf(name: string, argument: string | undefined): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler()
  if (name !== 'traceidratio') return new AlwaysOnSampler()
  const ratio = Number(argument ?? 1)
  return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1)
}
