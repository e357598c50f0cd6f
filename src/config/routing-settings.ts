import { Type } from 'typebox'
import { closed, count, duration } from './setting-types.ts'

/** How often a route is tried again. */
export const Retries = Type.Object(
  {
    attempts: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: 'How often a route is tried again.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Retries of a temporary failure, for each route of the model. A stream is retried only before its first event.',
  },
)

/** When a route that fails is skipped. */
export const Breaker = Type.Object(
  {
    failures: Type.Optional(
      count({ description: 'Failures in a row after which a route is skipped.', examples: [3] }),
    ),
    cooldown: Type.Optional(
      duration({
        description: 'How long a route that timed out is skipped before it is tried again.',
        examples: ['1m'],
      }),
    ),
  },
  {
    ...closed,
    description:
      'The circuit breaker of each route. It opens at once if the connection is refused. The last route of a model is never skipped.',
  },
)
