import { rateLimited } from '../../lib/errors/errors.ts'

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
