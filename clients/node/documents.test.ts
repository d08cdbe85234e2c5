/** Common uses of the JavaScript SDK without a data model: types, errors, pages, batches, transactions, tables, PartiQL. */
import {
  DescribeTableCommand,
  ExecuteStatementCommand,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableNotExists,
  DeleteTableCommand,
  paginateListTables,
  TransactionCanceledException,
  ConditionalCheckFailedException,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  UpdateCommand,
  paginateScan,
} from '@aws-sdk/lib-dynamodb'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { client, documents, makeTable, poll, readStream, refusal, streamArn, waitForTable } from './support.ts'

test('every type comes back as it was written', async (t) => {
  const TableName = await makeTable(t)
  const Item = {
    pk: 'all',
    sk: 'types',
    string: 'naïve ☃ 𝄞',
    empty: '',
    number: 42.5,
    binary: Uint8Array.from({ length: 256 }, (_, byte) => byte),
    yes: true,
    nothing: null,
    strings: new Set(['a', 'b']),
    numbers: new Set([1, 2.5, -3]),
    binaries: new Set([Uint8Array.of(0), Uint8Array.of(255)]),
    list: ['x', 1, [], {}, null, [['deep']]],
    map: { a: { b: { c: [1, { d: 'e' }] } } },
  }
  await documents.send(new PutCommand({ TableName, Item }))
  const found = await documents.send(new GetCommand({ TableName, Key: { pk: 'all', sk: 'types' }, ConsistentRead: true }))
  const { strings, numbers, binaries, ...rest } = found.Item!
  const { strings: s, numbers: n, binaries: b, ...expected } = Item
  assert.deepEqual(rest, expected)
  assert.deepEqual(new Set(strings), s)
  assert.deepEqual(new Set(numbers), n)
  assert.equal(binaries.size, b.size)
})

test('38 digits survive with NumberValue', async (t) => {
  const TableName = await makeTable(t)
  const digits = '12345678901234567890123456789012345678'
  await documents.send(new PutCommand({ TableName, Item: { pk: 'n', sk: 'n', n: NumberValue.from(digits) } }))
  const found = await client.send(new GetItemCommand({ TableName, Key: { pk: { S: 'n' }, sk: { S: 'n' } } }))
  assert.deepEqual(found.Item!.n, { N: digits })
})

test('a conditional write reports the item that was in the way', async (t) => {
  const TableName = await makeTable(t)
  const Item = { pk: { S: 'a' }, sk: { S: 'b' }, v: { N: '1' } }
  await client.send(new PutItemCommand({ TableName, Item }))
  const error = await refusal(
    client.send(
      new PutItemCommand({
        TableName,
        Item,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  )
  assert.ok(error instanceof ConditionalCheckFailedException)
  assert.equal(error.message, 'The conditional request failed')
  assert.deepEqual(error.Item, Item)
  assert.equal(error.$metadata.httpStatusCode, 400)
  assert.ok(error.$metadata.requestId)
})

test('errors have the names an SDK user catches', async (t) => {
  const TableName = await makeTable(t)
  const cases: [() => Promise<unknown>, string][] = [
    [() => documents.send(new GetCommand({ TableName: 'no-such-table', Key: { pk: 'a' } })), 'ResourceNotFoundException'],
    [() => documents.send(new GetCommand({ TableName, Key: { pk: 'a' } })), 'ValidationException'],
    [() => documents.send(new UpdateCommand({ TableName, Key: { pk: 'a', sk: 'b' }, UpdateExpression: 'SET' })), 'ValidationException'],
    [() => documents.send(new PutCommand({ TableName, Item: { pk: '', sk: 'b' } })), 'ValidationException'],
    [() => documents.send(new QueryCommand({ TableName, KeyConditionExpression: 'pk = :undefined' })), 'ValidationException'],
  ]
  for (const [action, name] of cases) assert.equal((await refusal(action())).name, name)
})

test('updates compute on the server', async (t) => {
  const TableName = await makeTable(t)
  const Key = { pk: 'u', sk: 'u' }
  const changed = await documents.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET visits = if_not_exists(visits, :zero) + :one, #l = list_append(if_not_exists(#l, :none), :entry) ADD tags :tags',
      ExpressionAttributeNames: { '#l': 'log' },
      ExpressionAttributeValues: { ':zero': 0, ':one': 1, ':none': [], ':entry': ['in'], ':tags': new Set(['new']) },
      ReturnValues: 'ALL_NEW',
    }),
  )
  assert.deepEqual(changed.Attributes, { ...Key, visits: 1, log: ['in'], tags: new Set(['new']) })
})

test('a scan pages through everything once', async (t) => {
  const TableName = await makeTable(t)
  const keys = Array.from({ length: 60 }, (_, number) => ({ pk: `p${number % 7}`, sk: String(number) }))
  for (let start = 0; start < keys.length; start += 20) {
    const puts = keys.slice(start, start + 20).map((Item) => ({ PutRequest: { Item: { ...Item, body: 'x'.repeat(40_000) } } }))
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }))
  }
  const seen = new Set<string>()
  let pages = 0
  for await (const page of paginateScan({ client: documents }, { TableName, ProjectionExpression: 'pk, sk' })) {
    pages++
    for (const item of page.Items!) seen.add(`${item.pk}/${item.sk}`)
  }
  assert.equal(seen.size, 60)
  assert.ok(pages >= 3, `2.4 MB need more than two pages, got ${pages}`)
})

test('batches are read with retries', async (t) => {
  const TableName = await makeTable(t)
  const Keys = Array.from({ length: 100 }, (_, number) => ({ pk: 'b', sk: String(number) }))
  for (let start = 0; start < 100; start += 25) {
    const puts = Keys.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }))
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }))
  }
  let rest: any = { [TableName]: { Keys } }
  const found: unknown[] = []
  for (let turn = 0; rest && Object.keys(rest).length > 0 && turn < 20; turn++) {
    const answer = await documents.send(new BatchGetCommand({ RequestItems: rest }))
    found.push(...answer.Responses![TableName])
    rest = answer.UnprocessedKeys
  }
  assert.equal(found.length, 100)
})

test('a cancelled transaction says why, action by action', async (t) => {
  const TableName = await makeTable(t)
  const key = (sk: string): Record<string, AttributeValue> => ({ pk: { S: 't' }, sk: { S: sk } })
  await client.send(new PutItemCommand({ TableName, Item: { ...key('there'), v: { N: '1' } } }))
  const error = await refusal(
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName, Item: key('new') } },
          {
            Update: {
              TableName,
              Key: key('there'),
              UpdateExpression: 'SET v = :two',
              ConditionExpression: 'v = :two',
              ExpressionAttributeValues: { ':two': { N: '2' } },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        ],
      }),
    ),
  )
  assert.ok(error instanceof TransactionCanceledException)
  assert.deepEqual(error.CancellationReasons!.map((reason) => reason.Code), ['None', 'ConditionalCheckFailed'])
  assert.deepEqual(error.CancellationReasons![1].Item, { ...key('there'), v: { N: '1' } })
  const read = await documents.send(
    new TransactGetCommand({ TransactItems: ['new', 'there'].map((sk) => ({ Get: { TableName, Key: { pk: 't', sk } } })) }),
  )
  assert.deepEqual(read.Responses, [{}, { Item: { pk: 't', sk: 'there', v: 1 } }])
})

test('a request token makes a transaction happen once', async (t) => {
  const TableName = await makeTable(t)
  const command = (amount: string, ClientRequestToken: string) =>
    new TransactWriteItemsCommand({
      ClientRequestToken,
      TransactItems: [
        {
          Update: {
            TableName,
            Key: { pk: { S: 'c' }, sk: { S: 'c' } },
            UpdateExpression: 'ADD n :n',
            ExpressionAttributeValues: { ':n': { N: amount } },
          },
        },
      ],
    })
  const token = randomUUID()
  await client.send(command('5', token))
  await client.send(command('5', token))
  assert.equal((await refusal(client.send(command('6', token)))).name, 'IdempotentParameterMismatchException')
  const found = await documents.send(new GetCommand({ TableName, Key: { pk: 'c', sk: 'c' } }))
  assert.equal(found.Item!.n, 5)
})

test('an index is added to a living table', async (t) => {
  const TableName = await makeTable(t)
  for (const sk of ['a', 'b', 'c']) await documents.send(new PutCommand({ TableName, Item: { pk: 'p', sk, owner: sk === 'b' ? 'x' : 'y' } }))
  await client.send(
    new UpdateTableCommand({
      TableName,
      AttributeDefinitions: ['pk', 'sk', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'by-owner',
            KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        },
      ],
    }),
  )
  await waitForTable(TableName)
  const status = await poll(
    async () => (await client.send(new DescribeTableCommand({ TableName }))).Table!.GlobalSecondaryIndexes?.[0]?.IndexStatus,
    (found) => found === 'ACTIVE',
    30,
  )
  assert.equal(status, 'ACTIVE')
  const found = await documents.send(
    new QueryCommand({
      TableName,
      IndexName: 'by-owner',
      KeyConditionExpression: '#o = :x',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':x': 'y' },
    }),
  )
  assert.deepEqual(found.Items!.map((item) => item.sk).sort(), ['a', 'c'])
})

test('tables are listed and deleted', async (t) => {
  const TableName = await makeTable(t)
  const names: string[] = []
  for await (const page of paginateListTables({ client, pageSize: 1 }, {})) names.push(...page.TableNames!)
  assert.ok(names.includes(TableName))
  await client.send(new DeleteTableCommand({ TableName }))
  const outcome = await waitUntilTableNotExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName })
  assert.equal(outcome.state, 'SUCCESS')
})

test('PartiQL reads and writes', async (t) => {
  const TableName = await makeTable(t)
  const run = (Statement: string, ...Parameters: AttributeValue[]) =>
    client.send(new ExecuteStatementCommand({ Statement, Parameters: Parameters.length ? Parameters : undefined }))
  await run(`INSERT INTO "${TableName}" VALUE {'pk': 'p', 'sk': '1', 'n': 5}`)
  await run(`UPDATE "${TableName}" SET n = n + ? WHERE pk = 'p' AND sk = '1'`, { N: '2' })
  const found = await run(`SELECT n FROM "${TableName}" WHERE pk = ? AND begins_with(sk, ?)`, { S: 'p' }, { S: '1' })
  assert.deepEqual(found.Items, [{ n: { N: '7' } }])
  assert.equal((await refusal(run(`INSERT INTO "${TableName}" VALUE {'pk': 'p', 'sk': '1'}`))).name, 'DuplicateItemException')
})

test('an expired item leaves a service record in the stream', async (t) => {
  const TableName = await makeTable(t, { StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' } })
  const arn = await streamArn(TableName)
  await client.send(
    new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true } }),
  )
  await documents.send(new PutCommand({ TableName, Item: { pk: 'p', sk: 'user' } }))
  await documents.send(new DeleteCommand({ TableName, Key: { pk: 'p', sk: 'user' } }))
  await documents.send(new PutCommand({ TableName, Item: { pk: 'p', sk: 'old', expires: Math.floor(Date.now() / 1000) - 5 } }))
  const removed = await poll(
    async () => (await readStream(arn)).filter((record) => record.eventName === 'REMOVE'),
    (records) => records.length === 2,
  )
  assert.deepEqual(
    removed.map((record) => [record.dynamodb!.Keys!.sk.S, record.userIdentity?.PrincipalId]),
    [
      ['user', undefined],
      ['old', 'dynamodb.amazonaws.com'],
    ],
  )
})

test('fifty writers at once', async (t) => {
  const TableName = await makeTable(t)
  await Promise.all(
    Array.from({ length: 50 }, (_, number) =>
      documents.send(
        new UpdateCommand({
          TableName,
          Key: { pk: 'hot', sk: 'hot' },
          UpdateExpression: 'ADD n :one SET #k = :k',
          ExpressionAttributeNames: { '#k': `writer${number}` },
          ExpressionAttributeValues: { ':one': 1, ':k': number },
        }),
      ),
    ),
  )
  const { Items } = await documents.send(new ScanCommand({ TableName, ConsistentRead: true }))
  assert.equal(Items![0].n, 50)
  assert.equal(Object.keys(Items![0]).length, 53)
})
