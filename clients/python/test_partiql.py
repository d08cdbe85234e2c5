"""PartiQL: ExecuteStatement, BatchExecuteStatement and ExecuteTransaction."""

import pytest
from botocore.exceptions import ClientError


@pytest.fixture
def table(make_table):
    table = make_table(range_type="N")
    for number in range(5):
        table.put_item(Item={"pk": "p", "sk": number, "title": f"title {number}", "tags": {"a"}, "list": [number]})
    return table


def run(client, statement, *parameters, **options):
    if parameters:
        options["Parameters"] = list(parameters)
    return client.execute_statement(Statement=statement, **options)


def test_select(client, table):
    answer = run(client, f'SELECT sk, title FROM "{table.name}" WHERE pk = ? AND sk > ?', {"S": "p"}, {"N": "2"})
    assert answer["Items"] == [{"sk": {"N": "3"}, "title": {"S": "title 3"}}, {"sk": {"N": "4"}, "title": {"S": "title 4"}}]


def test_select_in_descending_order(client, table):
    answer = run(client, f"SELECT sk FROM \"{table.name}\" WHERE pk = 'p' ORDER BY sk DESC")
    assert [item["sk"]["N"] for item in answer["Items"]] == ["4", "3", "2", "1", "0"]


def test_select_in_pages(client, table):
    statement = f"SELECT sk FROM \"{table.name}\" WHERE pk = 'p'"
    seen, token = [], {}
    while True:
        page = run(client, statement, Limit=2, **token)
        seen += [item["sk"]["N"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert seen == ["0", "1", "2", "3", "4"]


def test_insert_update_delete(client, table):
    run(client, f"INSERT INTO \"{table.name}\" VALUE {{'pk': 'q', 'sk': 1, 'n': 5, 'doc': {{'x': [1, true, null]}}}}")
    changed = run(client, f'UPDATE "{table.name}" SET n = n + 2 SET extra = ? WHERE pk = \'q\' AND sk = 1 RETURNING ALL NEW *', {"S": "e"})
    assert changed["Items"][0]["n"] == {"N": "7"} and changed["Items"][0]["extra"] == {"S": "e"}
    removed = run(client, f"DELETE FROM \"{table.name}\" WHERE pk = 'q' AND sk = 1 RETURNING ALL OLD *")
    assert removed["Items"][0]["doc"]["M"]["x"]["L"] == [{"N": "1"}, {"BOOL": True}, {"NULL": True}]
    assert "Item" not in table.get_item(Key={"pk": "q", "sk": 1})


def test_insert_of_an_existing_item_is_refused(client, table):
    with pytest.raises(client.exceptions.DuplicateItemException):
        run(client, f"INSERT INTO \"{table.name}\" VALUE {{'pk': 'p', 'sk': 1}}")


def test_an_update_whose_condition_fails(client, table):
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        run(client, f"UPDATE \"{table.name}\" SET title = 'x' WHERE pk = 'p' AND sk = 1 AND title = 'other'")


def test_a_statement_that_is_none(client):
    with pytest.raises(ClientError) as raised:
        run(client, "SELEC * FROM nothing")
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def test_a_batch_reports_each_statement(client, table):
    answer = client.batch_execute_statement(
        Statements=[
            {"Statement": f"INSERT INTO \"{table.name}\" VALUE {{'pk': 'p', 'sk': 1}}"},
            {"Statement": f"INSERT INTO \"{table.name}\" VALUE {{'pk': 'p', 'sk': 77}}"},
        ]
    )
    assert answer["Responses"][0]["Error"]["Code"] == "DuplicateItem"
    assert "Error" not in answer["Responses"][1]
    assert table.get_item(Key={"pk": "p", "sk": 77})["Item"]


def test_a_transaction_is_all_or_nothing(client, table):
    statements = [
        {"Statement": f"INSERT INTO \"{table.name}\" VALUE {{'pk': 'p', 'sk': 88}}"},
        {"Statement": f"UPDATE \"{table.name}\" SET title = 'x' WHERE pk = 'p' AND sk = 1 AND title = 'other'"},
    ]
    with pytest.raises(client.exceptions.TransactionCanceledException) as raised:
        client.execute_transaction(TransactStatements=statements)
    assert [reason["Code"] for reason in raised.value.response["CancellationReasons"]] == ["None", "ConditionalCheckFailed"]
    assert "Item" not in table.get_item(Key={"pk": "p", "sk": 88})
    client.execute_transaction(TransactStatements=statements[:1])
    assert "Item" in table.get_item(Key={"pk": "p", "sk": 88})
