import { expect, test } from 'bun:test'
import { actorOf } from '../../../src/http/actor.ts'

const key = { type: 'admin_key', id: 'abcdefghijkl', name: 'ada' } as const

function forwardedFor(value: string): string | null {
  const request = new Request('http://localhost/', { headers: { 'x-forwarded-for': value } })
  return actorOf(key, request, () => '127.0.0.1').forwardedFor
}

test('of a long X-Forwarded-For the end is kept, which the nearest proxy has added', () => {
  const invented = '198.51.100.1, '.repeat(100)
  const kept = forwardedFor(`${invented}203.0.113.7`) ?? ''
  expect(kept).toEndWith(', 203.0.113.7')
  expect(kept).toStartWith('…')
  expect(kept).toHaveLength(201)
  expect(forwardedFor('198.51.100.1, 203.0.113.7')).toBe('198.51.100.1, 203.0.113.7')
})
