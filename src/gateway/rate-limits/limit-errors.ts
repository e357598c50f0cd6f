import { rateLimited } from '../../lib/errors/http-errors.ts'
/** 429: the bucket of the organization has too little for the request, and for `waitMs` will not have enough. */
export function limitExceeded(type: 'requests' | 'tokens', limit: number, waitMs: number): Error {
  const reached = `Rate limit exceeded: too many ${type} per minute for the organization (limit: ${limit}).`
  return rateLimited(type, `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}

/** 429: all concurrency slots of the organization are taken. */
export function tooManyConcurrent(limit: number): Error {
  const message = `Rate limit exceeded: too many concurrent requests for the organization (limit: ${limit}). Try again when one has finished.`
  return rateLimited('requests', message, 1000)
}

/** 429: as many large bodies of the organization wait as may, or one has waited too long. */
export function tooManyLargeBodies(limit: number): Error {
  const message = `Rate limit exceeded: too many large request bodies at once for the organization (limit: ${limit} waiting). Try again in 1 second.`
  return rateLimited('requests', message, 1000)
}

/** 429: the large bodies of the organization have too many bytes, and for `waitMs` will not have few enough. */
export function tooManyBodyBytes(limit: number, waitMs: number): Error {
  const reached = `Rate limit exceeded: too many bytes in large request bodies per minute for the organization (limit: ${limit}).`
  return rateLimited('requests', `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}
