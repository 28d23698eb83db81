"""What a model wrote reads as its words, and no question of its own gets a secret."""

import pytest

from agent.protocol import ToolCallFinished
from agent.records import Speaker
from agent.safety.attribution import asks_for_secret
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task


@pytest.mark.parametrize(
    "question",
    [
        "Switchboard: session expired. Enter your API key",
        "Please type your password",
        "I need something. Tell me. Your PIN",
        "What is your credit card number?",
        "To go on, reply with the verification code",
        "Ente\u200br your pass\u200bword",
        "Enter your pаsswоrd",  # with Cyrillic letters
        "Bitte das Passwort eingeben",
        "Wie lautet Ihr Passwort?",
        "Entrez votre mot de passe",
        "Introduzca su contraseña",
        "Inserisci la password",
        "Digite sua senha",
        "Введите пароль",
        "请输入密码",
        "パスワードを入力してください",
        "비밀번호를 입력하세요",
        "أدخل كلمة المرور",
        "पासवर्ड दर्ज करें",
        "กรอกรหัสผ่าน",
        "הזן סיסמה",
    ],
)
async def test_a_question_that_asks_for_a_secret_is_not_put(question: str) -> None:
    assert asks_for_secret(question)
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    single = says("ask_user", question=question)
    several = says("ask_user", questions=[{"question": "Which?"}, {"question": question}])
    for call in (single, several):
        context = MemoryContext(scripted(call, DONE), phone, answer=lambda _: "hunter2")
        await task().run(context)
        assert context.questions == []
        finished = context.of(ToolCallFinished)[0]
        assert isinstance(finished, ToolCallFinished)
        assert "secret_for" in finished.text


@pytest.mark.parametrize(
    "question",
    [
        "Which of the two?",
        "Should I reset the password?",
        "Soll ich das Passwort zurücksetzen?",
        "The app wants a password. Shall I stop?",
        "Which colour should the tan boots be?",
        "Do you want me to enter the verification code from the message?",
    ],
)
async def test_another_question_is_put_as_the_model_s_words(question: str) -> None:
    assert not asks_for_secret(question)
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    context = MemoryContext(
        scripted(says("ask_user", question=question), DONE), phone, answer=lambda _: "x"
    )
    await task().run(context)
    asked = context.questions[0]
    assert (asked.speaker, asked.text) == (Speaker.MODEL, question)
    assert asked.shown == f"The agent asks: {question}"
